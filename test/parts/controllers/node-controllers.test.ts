// Nodes that stop reporting, and their pods, against the whole API server. Time stands still until a test
// advances it; the tests play the kubelets.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Event } from '../../../src/kinds/event/types.ts';
import type { Node } from '../../../src/kinds/node/types.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { type ControllerHarness, startControllerHarness } from '../harness/controller-harness.ts';
import { makeLease, markReady, renewLease, reportNode } from '../harness/node-agent.ts';

let harness: ControllerHarness;
before(async () => {
  harness = await startControllerHarness();
  await harness.makeNamespace('apps');
});
after(() => harness.stop());

const nodes = '/api/v1/nodes';
const pods = '/api/v1/namespaces/apps/pods';

/** Two ready nodes; the tests decide which of them go on renewing their leases. */
beforeEach(async () => {
  for (const name of ['near', 'far']) {
    if (await harness.isGone(`${nodes}/${name}`)) {
      await harness.api.post(nodes, { metadata: { name } });
      await makeLease(harness, name);
    }
    await renewLease(harness, name);
    await reportNode(harness, name);
  }
});

/** Advances the time while the named nodes renew their leases. */
async function pass(seconds: number, ...reporting: readonly string[]): Promise<void> {
  for (let left = seconds; left > 0; left -= 10) {
    await harness.clock.advance(Math.min(left, 10) * 1000);
    for (const name of reporting) await renewLease(harness, name);
  }
}

const ready = async (name: string): Promise<string | undefined> => {
  const { status } = await harness.api.get<Node>(`${nodes}/${name}`);
  return status.conditions?.find(({ type }) => type === 'Ready')?.status;
};
const taints = async (name: string): Promise<readonly string[]> => {
  const { spec } = await harness.api.get<Node>(`${nodes}/${name}`);
  return (spec.taints ?? []).map(({ key, effect }) => `${key} ${effect}`);
};
const read = (name: string): Promise<Pod> => harness.api.get<Pod>(`${pods}/${name}`);
const isLeaving = async (name: string): Promise<boolean> =>
  (await read(name)).metadata.deletionTimestamp !== undefined;

async function runPod(name: string, spec: object = {}): Promise<void> {
  const containers = [{ name: 'c', image: 'i' }];
  const body = { metadata: { name }, spec: { nodeName: 'far', containers, ...spec } };
  await markReady(harness, await harness.api.post<Pod>(pods, body));
}

const messages = async (name: string): Promise<readonly string[]> =>
  (await harness.list<Event>('/api/v1/namespaces/apps/events'))
    .filter(
      ({ involvedObject, reason }) =>
        involvedObject.name === name && reason === 'TaintManagerEviction',
    )
    .map(({ message }) => message ?? '');

const lost = [
  'node.kubernetes.io/unreachable NoSchedule',
  'node.kubernetes.io/unreachable NoExecute',
];

test('a node that stops reporting loses its traffic, and gets it back when it reports again', async () => {
  await runPod('traffic');
  await pass(120, 'near', 'far');
  assert.equal(await ready('far'), 'True');
  await pass(60, 'near');
  assert.equal(await ready('far'), 'Unknown');
  assert.equal(await ready('near'), 'True');
  const { status } = await read('traffic');
  assert.equal(status.conditions?.find(({ type }) => type === 'Ready')?.status, 'False');
  assert.deepEqual(await taints('far'), lost);
  await reportNode(harness, 'far');
  await harness.until('the taints are gone', async () => (await taints('far')).length === 0);
});

test('pods of an unreachable node are evicted when their toleration expires, not before', async () => {
  await runPod('usual');
  const tolerations = [{ operator: 'Exists' }];
  await runPod('stays', { tolerations });
  await pass(60, 'near');
  assert.deepEqual(await taints('far'), lost);
  await pass(280, 'near');
  assert.equal(await isLeaving('usual'), false);
  await pass(30, 'near');
  assert.equal(await isLeaving('usual'), true);
  assert.equal(await isLeaving('stays'), false);
  const { status } = await read('usual');
  const condition = status.conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.equal(condition?.reason, 'DeletionByTaintManager');
  assert.deepEqual(await messages('usual'), ['Marking for deletion Pod apps/usual']);
  assert.match(harness.metrics.text(), /^taint_eviction_controller_pod_deletions_total [1-9]/m);
});

test('pods of a node that reports again in time stay', async () => {
  await runPod('spared');
  await pass(60, 'near');
  await pass(250, 'near');
  await reportNode(harness, 'far');
  await harness.until('the taints are gone', async () => (await taints('far')).length === 0);
  await pass(600, 'near', 'far');
  assert.equal(await isLeaving('spared'), false);
  assert.deepEqual(await messages('spared'), ['Cancelling deletion of Pod apps/spared']);
});

test('a NoExecute taint evicts pods without toleration at once', async () => {
  await runPod('driven');
  const taint = { key: 'example.com/maintenance', effect: 'NoExecute' };
  await harness.api.patch(`${nodes}/far`, { spec: { taints: [taint] } });
  await harness.until('the pod is deleted', () => isLeaving('driven'), 1000);
  await harness.api.patch(`${nodes}/far`, { spec: { taints: null } });
});

test('no pod is evicted when all nodes stop reporting', async () => {
  await runPod('alone');
  await pass(900);
  assert.equal(await ready('near'), 'Unknown');
  assert.equal(await ready('far'), 'Unknown');
  assert.deepEqual(await taints('far'), lost.slice(0, 1));
  assert.equal(await isLeaving('alone'), false);
});
