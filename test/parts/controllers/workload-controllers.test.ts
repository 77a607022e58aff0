// Deployments, replica sets, the scheduler and repairs against the whole API server. Time stands still until a test
// advances it; the tests play the kubelet.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { failureAnswer } from '../../../src/client/example.ts';
import type { Deployment } from '../../../src/kinds/deployment/types.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import type { ReplicaSet } from '../../../src/kinds/replica-set/types.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { type ControllerHarness, startControllerHarness } from '../harness/controller-harness.ts';
import { markReady, reportNode } from '../harness/node-agent.ts';

/** Requests to create pods. */
let podRequests = 0;
/** An exhausted quota. */
let refusesPods = false;
let harness: ControllerHarness;

before(async () => {
  harness = await startControllerHarness({
    intercept: (send) => (request) => {
      if (request.method !== 'POST' || !request.path.endsWith('/pods')) return send(request);
      podRequests += 1;
      return refusesPods ? Promise.resolve(failureAnswer(403, 'Forbidden')) : send(request);
    },
  });
});
after(() => harness.stop());

const until: ControllerHarness['until'] = (...args) => harness.until(...args);
const isGone = (path: string): Promise<boolean> => harness.isGone(path);
const list = <T>(path: string): Promise<readonly T[]> => harness.list<T>(path);
const apps = (ns: string, plural: string): string => `/apis/apps/v1/namespaces/${ns}/${plural}`;
const podsPath = (ns: string): string => `/api/v1/namespaces/${ns}/pods`;
const podsIn = (ns: string): Promise<readonly Pod[]> => list<Pod>(podsPath(ns));

const template = (image = 'app:1') => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'app', image }] },
});
const workload = (replicas: number, spec: object = {}) => ({
  metadata: { name: 'web' },
  spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: template(), ...spec },
});

/** Plays the kubelet: new pods become ready. */
async function agent(ns: string): Promise<void> {
  for (const pod of await podsIn(ns)) {
    const isReady = pod.status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True');
    if (pod.metadata.deletionTimestamp === undefined && !isReady) await markReady(harness, pod);
  }
}

test('a replica set creates its pods, replaces lost ones, and never creates too many', async () => {
  await harness.makeNamespace('sets');
  podRequests = 0;
  await harness.api.post(apps('sets', 'replicasets'), workload(5));
  await until('five pods are there', async () => (await podsIn('sets')).length === 5);
  await harness.clock.advance(5000);
  assert.equal(podRequests, 5);
  const set = await harness.api.get<ReplicaSet>(`${apps('sets', 'replicasets')}/web`);
  assert.equal(set.status.replicas, 5);
  assert.equal(set.status.observedGeneration, 1);
  const [first] = await podsIn('sets');
  assert.equal(first?.metadata.ownerReferences?.[0]?.uid, set.metadata.uid);
  await harness.api.delete(`${podsPath('sets')}/${first?.metadata.name}`);
  await until('the lost one is replaced', async () => (await podsIn('sets')).length === 5);
  await harness.api.patch(`${apps('sets', 'replicasets')}/web/scale`, { spec: { replicas: 2 } });
  await until('two are left', async () => (await podsIn('sets')).length === 2);
  await harness.clock.advance(1000);
  assert.equal(podRequests, 6);
});

test('a replica set adopts and releases pods by their labels', async () => {
  await harness.makeNamespace('claims');
  const spec = { containers: [{ name: 'app', image: 'app:1' }] };
  const orphan = { metadata: { name: 'orphan', labels: { app: 'web' } }, spec };
  await harness.api.post(podsPath('claims'), orphan);
  await harness.api.post(apps('claims', 'replicasets'), workload(2));
  const read = (): Promise<Pod> => harness.api.get<Pod>(`${podsPath('claims')}/orphan`);
  await until('the orphan is taken over', async () => {
    return (await read()).metadata.ownerReferences?.[0]?.name === 'web';
  });
  await until('one more is made', async () => (await podsIn('claims')).length === 2);
  await harness.api.patch(`${podsPath('claims')}/orphan`, { metadata: { labels: { app: 'x' } } });
  await until('it is let go', async () => (await read()).metadata.ownerReferences === undefined);
  await until('and replaced', async () => (await podsIn('claims')).length === 3);
});

test('a replica set reports failed creations, and continues when they succeed', async () => {
  await harness.makeNamespace('refused');
  podRequests = 0;
  refusesPods = true;
  await harness.api.post(apps('refused', 'replicasets'), workload(3));
  const read = (): Promise<ReplicaSet> => harness.api.get(`${apps('refused', 'replicasets')}/web`);
  await until('the failure is reported', async () => {
    const [condition] = (await read()).status.conditions ?? [];
    return condition?.type === 'ReplicaFailure' && condition.reason === 'FailedCreate';
  });
  // The first batch is one pod, so that a request that always fails is tried few times.
  assert.ok(podRequests < 10);
  refusesPods = false;
  await until('the pods are there', async () => (await podsIn('refused')).length === 3);
  await until('it is over', async () => (await read()).status.conditions === undefined);
});

test('a replication controller keeps its pods', async () => {
  await harness.makeNamespace('old-style');
  const spec = { replicas: 2, selector: { app: 'web' }, template: template() };
  const path = '/api/v1/namespaces/old-style/replicationcontrollers';
  await harness.api.post(path, { metadata: { name: 'web' }, spec });
  await until('two pods are there', async () => (await podsIn('old-style')).length === 2);
  const [pod] = await podsIn('old-style');
  assert.equal(pod?.metadata.ownerReferences?.[0]?.kind, 'ReplicationController');
});

test('a deployment rolls out, rolls back, and deletes its pods when it is deleted', async () => {
  await harness.makeNamespace('roll');
  const path = `${apps('roll', 'deployments')}/web`;
  const read = (): Promise<Deployment> => harness.api.get<Deployment>(path);
  const isDone = async (): Promise<boolean> => {
    await agent('roll');
    const { status, metadata } = await read();
    return (
      status.updatedReplicas === 3 &&
      status.replicas === 3 &&
      status.availableReplicas === 3 &&
      status.observedGeneration === metadata.generation
    );
  };
  await harness.api.post(apps('roll', 'deployments'), workload(3));
  await until('the first roll-out is done', isDone);
  const [first] = await list<ReplicaSet>(apps('roll', 'replicasets'));
  await harness.api.patch(path, { spec: { template: template('app:2') } });
  await until('the second roll-out is done', isDone);
  for (const { spec } of await podsIn('roll')) assert.equal(spec.containers?.[0]?.image, 'app:2');
  await harness.api.patch(path, { spec: { template: template('app:1') } });
  await until('the roll-back is done', isDone);
  const sets = await list<ReplicaSet>(apps('roll', 'replicasets'));
  assert.equal(sets.length, 2);
  const again = sets.find(({ metadata }) => metadata.name === first?.metadata.name);
  assert.equal(again?.metadata.annotations?.['deployment.kubernetes.io/revision'], '3');
  assert.equal(again?.metadata.annotations?.['deployment.kubernetes.io/revision-history'], '1');
  await harness.api.delete(path);
  await until('nothing is left', async () => (await podsIn('roll')).length === 0);
});

test('a deployment adopts replica sets without a controller', async () => {
  await harness.makeNamespace('adopt');
  const orphan = { ...workload(2), metadata: { name: 'web', labels: { app: 'web' } } };
  await harness.api.post(apps('adopt', 'replicasets'), orphan);
  await until('its pods are there', async () => (await podsIn('adopt')).length === 2);
  const deployment = workload(2, { template: template('app:2') });
  await harness.api.post(apps('adopt', 'deployments'), deployment);
  const read = (): Promise<ReplicaSet> => harness.api.get(`${apps('adopt', 'replicasets')}/web`);
  await until('the set has an owner', async () => {
    return (await read()).metadata.ownerReferences?.[0]?.kind === 'Deployment';
  });
  await until('its pods are replaced', async () => {
    await agent('adopt');
    const pods = await podsIn('adopt');
    return pods.length === 2 && pods.every((p) => p.spec.containers?.[0]?.image === 'app:2');
  });
});

test('a rollout without progress is reported when its deadline is exceeded', async () => {
  await harness.makeNamespace('stuck');
  const deployment = workload(1, { progressDeadlineSeconds: 60 });
  await harness.api.post(apps('stuck', 'deployments'), deployment);
  const reason = async (): Promise<string | undefined> => {
    const { status } = await harness.api.get<Deployment>(`${apps('stuck', 'deployments')}/web`);
    return status.conditions?.find(({ type }) => type === 'Progressing')?.reason;
  };
  await until('it has begun', async () => (await reason()) === 'ReplicaSetUpdated');
  await harness.clock.advance(50_000);
  assert.equal(await reason(), 'ReplicaSetUpdated');
  await until(
    'the condition is set',
    async () => (await reason()) === 'ProgressDeadlineExceeded',
    15_000,
  );
});

test('unschedulable pods are bound when a feasible node is added', async () => {
  await harness.makeNamespace('place');
  const spec = { nodeSelector: { disk: 'ssd' }, containers: [{ name: 'c', image: 'i' }] };
  await harness.api.post(podsPath('place'), { metadata: { name: 'p' }, spec });
  const read = (): Promise<Pod> => harness.api.get<Pod>(`${podsPath('place')}/p`);
  await harness.api.post('/api/v1/nodes', { metadata: { name: 'plain' } });
  await harness.clock.advance(2000);
  assert.equal((await read()).status.conditions, undefined);
  await reportNode(harness, 'plain');
  await until('its condition says why', async () => {
    const [condition] = (await read()).status.conditions ?? [];
    return (
      condition?.reason === 'Unschedulable' &&
      condition.message ===
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
    );
  });
  await harness.api.patch('/api/v1/nodes/plain', { metadata: { labels: { disk: 'ssd' } } });
  await until('it has its node', async () => (await read()).spec.nodeName === 'plain');
});

test('a missing IPAddress is created, and an orphan deleted (IPA-28, IPA-31)', async () => {
  await harness.makeNamespace('repair');
  type Service = KubeObject & { readonly spec: { readonly clusterIP: string } };
  const service = await harness.api.post<Service>('/api/v1/namespaces/repair/services', {
    metadata: { name: 's' },
    spec: { ports: [{ port: 80 }] },
  });
  const addresses = '/apis/networking.k8s.io/v1/ipaddresses';
  const own = `${addresses}/${service.spec.clusterIP}`;
  await harness.clock.advance(3000);
  await harness.api.delete(own);
  assert.equal(await isGone(own), true);
  await until('it is back', async () => !(await isGone(own)), 5000);
  const labels = {
    'ipaddress.kubernetes.io/ip-family': 'IPv4',
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  };
  const parentRef = { resource: 'services', namespace: 'repair', name: 'gone' };
  await harness.api.post(addresses, {
    metadata: { name: '10.96.9.9', labels },
    spec: { parentRef },
  });
  await harness.clock.advance(50_000);
  assert.equal(await isGone(`${addresses}/10.96.9.9`), false);
  await until('the leak is gone', () => isGone(`${addresses}/10.96.9.9`), 15_000);
});
