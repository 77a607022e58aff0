import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../pod/example.ts';
import { podFromTemplate } from './pod-from-template.ts';

test('podFromTemplate() sets the controller reference', () => {
  const owner = {
    kind: 'ReplicaSet',
    apiVersion: 'apps/v1',
    metadata: { name: 'web', namespace: 'default', uid: 'web-uid' },
  };
  const template = {
    metadata: { labels: { app: 'web' }, annotations: { a: 'b' }, finalizers: ['x/y'] },
    spec: examplePod().spec,
  };
  assert.deepEqual(podFromTemplate(owner, template).metadata, {
    namespace: 'default',
    generateName: 'web-',
    labels: { app: 'web' },
    annotations: { a: 'b' },
    finalizers: ['x/y'],
    ownerReferences: [
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'web',
        uid: 'web-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  });
});
