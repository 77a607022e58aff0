import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../kinds/pod/example.ts';
import { diffPods } from './diff.ts';

const pod = (uid: string, resourceVersion = '1') =>
  examplePod({ metadata: { uid, resourceVersion } });
const mirror = examplePod({
  metadata: { uid: 'm', annotations: { 'kubernetes.io/config.mirror': 'x' } },
});

test('diffPods() compares pods by uid and resourceVersion', () => {
  const working = new Map([
    ['same', pod('same')],
    ['changed', pod('changed')],
    ['deleted', pod('deleted')],
  ]);
  const changes = diffPods([pod('same'), pod('changed', '2'), pod('new'), mirror], working);
  const uids = (pods: readonly { metadata: { uid?: string } }[]) => pods.map((p) => p.metadata.uid);
  assert.deepEqual(uids(changes.start), ['new']);
  assert.deepEqual(uids(changes.update), ['changed']);
  assert.deepEqual(changes.remove, ['deleted']);
});
