// Claims from creation to deletion, with the real controllers, the agent and the rights of a node.
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { PersistentVolume } from '../../../src/kinds/persistent-volume/types.ts';
import type { PersistentVolumeClaim } from '../../../src/kinds/persistent-volume-claim/types.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { type NodeHarness, pods, startNodeHarness } from '../harness/node-harness.ts';

const limit = { timeout: 60_000 };
const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
const volumes = '/api/v1/persistentvolumes';
const accessModes = ['ReadWriteOnce'];
const resources = { requests: { storage: '1Gi' } };

async function withClass(t: TestContext, more: object = {}): Promise<NodeHarness> {
  const harness = await startNodeHarness(t, { controllers: true });
  await harness.api.post('/apis/storage.k8s.io/v1/storageclasses', {
    ...{ metadata: { name: 'local' }, provisioner: 'fairlead.dev/local' },
    ...{ volumeBindingMode: 'WaitForFirstConsumer', allowVolumeExpansion: true, ...more },
  });
  return harness;
}

const makeClaim = ({ api }: NodeHarness, name: string) =>
  api.post(claims, {
    metadata: { name },
    spec: { accessModes, resources, storageClassName: 'local' },
  });

const writer = (script: string, volume: object, mount: object = {}): object => ({
  restartPolicy: 'Never',
  terminationGracePeriodSeconds: 0,
  // Scheduled, not bound by hand: the claim waits for it.
  nodeName: undefined,
  containers: [
    {
      ...{ name: 'c', image: 'process', command: ['sh', '-c', script] },
      volumeMounts: [{ name: 'v', mountPath: '/keep', ...mount }],
    },
  ],
  volumes: [{ name: 'v', ...volume }],
});
const claimed = (claimName: string) => ({ persistentVolumeClaim: { claimName } });

const hasEnded = ({ status }: Pod): boolean =>
  status.phase === 'Succeeded' || status.phase === 'Failed';

async function volumeOf({ api, directory }: NodeHarness, claim: string): Promise<string> {
  const { spec } = await api.get<PersistentVolumeClaim>(`${claims}/${claim}`);
  return join(directory, 'persistent-volumes', spec.volumeName ?? '');
}

async function waitUntil(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await yieldToEventLoop();
}

const remove = (harness: NodeHarness, pod: string) =>
  harness.api.delete(`${pods}/${pod}?gracePeriodSeconds=0`);

test(
  'a claim keeps its files from pod to pod and from agent to agent, and goes with all of them',
  limit,
  async (t) => {
    const harness = await withClass(t);
    const { run, until, api } = harness;
    await makeClaim(harness, 'data');
    const script = 'cat /keep/log; echo line >> /keep/log; mkdir -p /keep/d; chmod 0 /keep/d';
    await run('first', writer(script, claimed('data')));
    await until('first', hasEnded);
    await harness.stopNode();
    await harness.startAgain();
    await run('second', writer(script, claimed('data')));
    await until('second', hasEnded);
    const path = await volumeOf(harness, 'data');
    assert.equal(readFileSync(join(path, 'log'), 'utf8'), 'line\nline\n');
    const { spec } = await api.get<PersistentVolume>(`${volumes}/${path.split('/').at(-1)}`);
    assert.equal(spec.local?.path, path);
    await Promise.all(['first', 'second'].map((name) => remove(harness, name)));
    await api.delete(`${claims}/data`);
    await waitUntil(() => !existsSync(path));
    await waitUntil(async () => (await api.get<{ items: object[] }>(volumes)).items.length === 0);
  },
);

test('a volume full of links is deleted, and nothing that they lead to', limit, async (t) => {
  const harness = await withClass(t);
  const outside = join(harness.directory, '..', `outside-${process.pid}-${Date.now()}`);
  mkdirSync(outside);
  t.after(() => rmSync(outside, { recursive: true }));
  writeFileSync(join(outside, 'precious'), 'x');
  await makeClaim(harness, 'links');
  const script = [
    `ln -s ${outside} /keep/directory`,
    `ln -s ${outside}/precious /keep/file`,
    'mkdir -p /keep/a && rmdir /keep/a && ln -s / /keep/a',
  ].join('; ');
  await harness.run('linker', writer(script, claimed('links')));
  await harness.until('linker', hasEnded);
  const path = await volumeOf(harness, 'links');
  await remove(harness, 'linker');
  await harness.api.delete(`${claims}/links`);
  await waitUntil(() => !existsSync(path));
  assert.equal(readFileSync(join(outside, 'precious'), 'utf8'), 'x');
});

test('an agent that was killed while it deleted continues at its next start', limit, async (t) => {
  const harness = await withClass(t);
  await makeClaim(harness, 'late');
  await harness.run('user', writer('echo x > /keep/x', claimed('late')));
  await harness.until('user', hasEnded);
  const path = await volumeOf(harness, 'late');
  await remove(harness, 'user');
  await harness.isGone('user');
  await harness.stopNode();
  await harness.api.delete(`${claims}/late`);
  const volume = `${volumes}/${path.split('/').at(-1)}`;
  await waitUntil(async () => {
    const { metadata } = await harness.api.get<PersistentVolume>(volume);
    return metadata.finalizers?.join() === 'fairlead.dev/local-directory';
  });
  assert.ok(existsSync(join(path, 'x')));
  await harness.startAgain();
  await waitUntil(
    async () => (await harness.api.send({ method: 'GET', path: volume })).status === 404,
  );
  assert.ok(!existsSync(path));
});

test('with policy Retain the directory outlives its volume', limit, async (t) => {
  const harness = await withClass(t, { reclaimPolicy: 'Retain' });
  await makeClaim(harness, 'kept');
  await harness.run('user', writer('echo x > /keep/x', claimed('kept')));
  await harness.until('user', hasEnded);
  const path = await volumeOf(harness, 'kept');
  await remove(harness, 'user');
  await harness.api.delete(`${claims}/kept`);
  const volume = `${volumes}/${path.split('/').at(-1)}`;
  await waitUntil(async () => {
    const { status } = await harness.api.get<PersistentVolume>(volume);
    return status.phase === 'Released';
  });
  await harness.api.delete(volume);
  await waitUntil(
    async () => (await harness.api.send({ method: 'GET', path: volume })).status === 404,
  );
  assert.ok(existsSync(join(path, 'x')));
});

test('an ephemeral volume has subPath and fsGroup, and goes with its pod', limit, async (t) => {
  const harness = await withClass(t);
  const spec = { accessModes, resources, storageClassName: 'local' };
  await harness.run('scratch', {
    ...writer(
      'echo x > /keep/x',
      { ephemeral: { volumeClaimTemplate: { spec } } },
      { subPath: 'a/b' },
    ),
    ...(process.getuid?.() === 0 ? { securityContext: { fsGroup: 4321 } } : {}),
  });
  await harness.until('scratch', hasEnded);
  const path = await volumeOf(harness, 'scratch-v');
  assert.deepEqual(readdirSync(path), ['a']);
  assert.ok(existsSync(join(path, 'a', 'b', 'x')));
  if (process.getuid?.() === 0) assert.equal(statSync(path).gid, 4321);
  await remove(harness, 'scratch');
  await waitUntil(() => !existsSync(path));
});
