// StatefulSets and DaemonSets against the whole API server, with what may go wrong: sizes, restarts, rivals, and names that are made to confuse.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import { allControllers } from '../../../src/controllers/all.ts';
import { startControllers } from '../../../src/controllers/run.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import type { StatefulSet } from '../../../src/kinds/stateful-set/types.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { type ControllerHarness, startControllerHarness } from '../harness/controller-harness.ts';
import { markReady } from '../harness/node-agent.ts';

let harness: ControllerHarness;
before(async () => {
  harness = await startControllerHarness();
});
after(() => harness.stop());

const timeout = 120_000;
const sets = (ns: string): string => `/apis/apps/v1/namespaces/${ns}/statefulsets`;
const podsPath = (ns: string): string => `/api/v1/namespaces/${ns}/pods`;
const podsIn = (ns: string): Promise<readonly Pod[]> => harness.list<Pod>(podsPath(ns));
const namesIn = async (ns: string): Promise<readonly string[]> =>
  (await podsIn(ns)).map(({ metadata }) => metadata.name ?? '').sort();

const template = (image = 'app:1') => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'app', image }], terminationGracePeriodSeconds: 0 },
});
const setNamed = (name: string, replicas: number, more: object = {}) => ({
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: template(), ...more },
});
const parallel = { podManagementPolicy: 'Parallel' };

/** Plays the kubelet: at most one pod becomes ready, as in a slow cluster. */
async function readyOne(ns: string): Promise<void> {
  const waiting = (await podsIn(ns)).find(({ status }) => status.phase === 'Pending');
  if (waiting !== undefined) await markReady(harness, waiting);
}

const statusOf = async (ns: string, name: string): Promise<StatefulSet['status']> =>
  (await harness.api.get<StatefulSet>(`${sets(ns)}/${name}`)).status;

test('a set of 1,000 pods is made in parallel, and goes', { timeout }, async () => {
  await harness.makeNamespace('many');
  await harness.api.post(sets('many'), setNamed('web', 1000, parallel));
  await harness.until('all pods', async () => (await podsIn('many')).length === 1000, 60_000);
  const names = await namesIn('many');
  assert.equal(new Set(names).size, 1000);
  assert.ok(names.includes('web-0') && names.includes('web-999'));
  await harness.api.patch(`${sets('many')}/web/scale`, { spec: { replicas: 0 } });
  await harness.until('no pods', async () => (await podsIn('many')).length === 0, 60_000);
});

test('two managers at once, in the middle of a roll-out, keep to the order', {
  timeout,
}, async () => {
  const ns = 'rivals';
  await harness.makeNamespace(ns);
  await harness.api.post(sets(ns), setNamed('web', 3));
  const isReady = (count: number) => async (): Promise<boolean> => {
    const unready = (await podsIn(ns)).filter(({ status }) => status.phase === 'Pending');
    assert.ok(unready.length <= 1, 'more than one pod is on its way');
    await readyOne(ns);
    return (await statusOf(ns, 'web')).readyReplicas === count;
  };
  await harness.until('all are ready', isReady(3));
  const stopping = new AbortController();
  const identity = { user: 'system:kube-controller-manager', groups: ['system:masters'] };
  // An earlier leader that does not know yet that it is none.
  const rival = startControllers({
    transport: {
      send: createLocalCall(harness.server.server.handle, identity),
      close: () => Promise.resolve(),
    },
    log: silentLog,
    authorityCertificate: 'CERTIFICATE',
    signal: stopping.signal,
    clock: harness.clock,
    controllers: allControllers.filter(({ name }) => name === 'statefulset-controller'),
  });
  await harness.api.patch(`${sets(ns)}/web`, { spec: { template: template('app:2') } });
  await harness.until('it is rolled out', async () => {
    await isReady(3)();
    const { currentRevision, updateRevision, readyReplicas } = await statusOf(ns, 'web');
    return currentRevision === updateRevision && readyReplicas === 3;
  });
  stopping.abort();
  await rival;
  const images = (await podsIn(ns)).map(({ spec }) => spec.containers?.[0]?.image);
  assert.deepEqual(images, ['app:2', 'app:2', 'app:2']);
  const revisions = await harness.list(`/apis/apps/v1/namespaces/${ns}/controllerrevisions`);
  assert.equal(revisions.length, 2);
});

test('pods and revisions of confusing names are left alone', { timeout }, async () => {
  const ns = 'confused';
  await harness.makeNamespace(ns);
  const labels = { app: 'web' };
  for (const name of ['web-01', 'web', 'other-0', 'web-0-0']) {
    await harness.api.post(podsPath(ns), { metadata: { name, labels }, spec: template().spec });
  }
  const data = { spec: { template: { spec: { containers: 5 } } } };
  await harness.api.post(`/apis/apps/v1/namespaces/${ns}/controllerrevisions`, {
    metadata: { name: 'web-forged', labels },
    data,
    revision: 2 ** 40,
  });
  await harness.api.post(sets(ns), setNamed('web', 2, parallel));
  await harness.api.post(sets(ns), setNamed('web-0', 1, parallel));
  await harness.until('both have their pods', async () => {
    const names = await namesIn(ns);
    return names.includes('web-0') && names.includes('web-1');
  });
  const owners = new Map(
    (await podsIn(ns)).map(({ metadata }) => [
      metadata.name,
      metadata.ownerReferences?.[0]?.name ?? 'none',
    ]),
  );
  assert.deepEqual(Object.fromEntries(owners), {
    ...{ 'other-0': 'none', web: 'none', 'web-01': 'none' },
    ...{ 'web-0': 'web', 'web-1': 'web', 'web-0-0': 'web-0' },
  });
});

test('a namespace that goes in the middle of a roll-out takes all along', { timeout }, async () => {
  const ns = 'leaving';
  await harness.makeNamespace(ns);
  await harness.api.post(sets(ns), setNamed('web', 5));
  await harness.until('it has begun', async () => {
    await readyOne(ns);
    return (await podsIn(ns)).length >= 3;
  });
  await harness.api.delete(`/api/v1/namespaces/${ns}`);
  await harness.until('it is gone', () => harness.isGone(`/api/v1/namespaces/${ns}`), 60_000);
});

test('a template near the limit of a body is rolled out and back', { timeout }, async () => {
  const ns = 'large';
  await harness.makeNamespace(ns);
  const value = 'x'.repeat(1_000_000);
  const large = {
    ...template(),
    spec: {
      ...template().spec,
      containers: [{ name: 'app', image: 'app:1', env: [{ name: 'A', value }] }],
    },
  };
  await harness.api.post(sets(ns), setNamed('web', 1, { template: large }));
  const rolledOut = async (): Promise<boolean> => {
    await readyOne(ns);
    const { currentRevision, updateRevision, readyReplicas } = await statusOf(ns, 'web');
    return readyReplicas === 1 && currentRevision === updateRevision;
  };
  await harness.until('it runs', rolledOut);
  const [first] = await harness.list<KubeObject>(
    `/apis/apps/v1/namespaces/${ns}/controllerrevisions`,
  );
  await harness.api.patch(`${sets(ns)}/web`, {
    spec: { template: { spec: { containers: [{ name: 'app', image: 'app:2' }] } } },
  });
  await harness.until('it is forward', async () => {
    const isDone = await rolledOut();
    return isDone && (await statusOf(ns, 'web')).currentRevision !== first?.metadata.name;
  });
  await harness.api.patch(`${sets(ns)}/web`, { spec: { template: large } });
  await harness.until('it is back', async () => {
    const isDone = await rolledOut();
    return isDone && (await statusOf(ns, 'web')).currentRevision === first?.metadata.name;
  });
});
