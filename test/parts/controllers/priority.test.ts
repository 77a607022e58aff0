// Priority classes: what pods get of them, and the order in which the scheduler serves pods.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import type { PriorityClass } from '../../../src/kinds/priority-class/types.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import { type ControllerHarness, startControllerHarness } from '../harness/controller-harness.ts';
import { makeLease, reportNode } from '../harness/node-agent.ts';

let harness: ControllerHarness;
before(async () => {
  harness = await startControllerHarness();
});
after(() => harness.stop());

const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
const pods = '/api/v1/namespaces/default/pods';
const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '1500m' } } }];
const makePod = (name: string, spec: object = {}): Promise<Pod> =>
  harness.api.post<Pod>(pods, { metadata: { name }, spec: { containers, ...spec } });
const makeClass = (name: string, value: number, more: object = {}): Promise<PriorityClass> =>
  harness.api.post<PriorityClass>(classes, { metadata: { name }, value, ...more });
const refusal = async (path: string, body: object): Promise<string> => {
  const answer = await harness.api.send<Status>({ method: 'POST', path, body });
  assert.ok(answer.status >= 400, `${answer.status}`);
  return answer.body.message ?? '';
};

test('of pods that wait for a node the most important gets it', async () => {
  await makeClass('high', 1000);
  await makeClass('middle', 500);
  await makePod('low');
  await makePod('middle', { priorityClassName: 'middle' });
  await makePod('high', { priorityClassName: 'high' });
  await harness.clock.advance(1000);
  await harness.api.post('/api/v1/nodes', { metadata: { name: 'only' } });
  await makeLease(harness, 'only');
  // Room for one of them.
  await reportNode(harness, 'only');
  await harness.until('one is bound', async () =>
    (await harness.list<Pod>(pods)).some(({ spec }) => spec.nodeName === 'only'),
  );
  await harness.clock.advance(1000);
  const bound = (await harness.list<Pod>(pods)).filter(({ spec }) => spec.nodeName === 'only');
  assert.deepEqual(
    bound.map(({ metadata }) => metadata.name),
    ['high'],
  );
});

test('pods get the priority of their class, and of the default class', async () => {
  const plain = await makePod('plain');
  assert.deepEqual(
    [plain.spec.priorityClassName, plain.spec.priority, plain.spec.preemptionPolicy],
    [undefined, 0, 'PreemptLowerPriority'],
  );
  await makeClass('default', 7, { globalDefault: true, preemptionPolicy: 'Never' });
  const classed = await makePod('classed');
  assert.deepEqual(
    [classed.spec.priorityClassName, classed.spec.priority, classed.spec.preemptionPolicy],
    ['default', 7, 'Never'],
  );
  assert.match(
    await refusal(classes, { metadata: { name: 'second' }, value: 8, globalDefault: true }),
    /PriorityClass default is already marked as default. Only one default can exist$/,
  );
  const spec = { containers, priorityClassName: 'none' };
  assert.equal(
    await refusal(pods, { metadata: { name: 'p' }, spec }),
    'pods "p" is forbidden: no PriorityClass with name none was found',
  );
  assert.match(
    await refusal(pods, { metadata: { name: 'p' }, spec: { containers, priority: 9 } }),
    /the integer value of priority \(9\) must not be provided in pod spec; priority admission controller computed 7 from the given PriorityClass name$/,
  );
  const critical = await makePod('critical', { priorityClassName: 'system-node-critical' });
  assert.equal(critical.spec.priority, 2_000_001_000);
});

test('the value of a class cannot change, and those of the system stay', async () => {
  const patch = async (body: object): Promise<number> =>
    (
      await harness.api.send({
        method: 'PATCH',
        path: `${classes}/high`,
        body,
        headers: { 'content-type': 'application/merge-patch+json' },
      })
    ).status;
  assert.equal(await patch({ description: 'for the best' }), 200);
  assert.equal(await patch({ value: 1 }), 422);
  assert.equal(await patch({ preemptionPolicy: 'Never' }), 422);
  assert.match(
    await refusal(classes, { metadata: { name: 'system-own' }, value: 1 }),
    /reserved for system use only. error: system-own is not a known system priority class$/,
  );
  assert.match(
    await refusal(classes, { metadata: { name: 'huge' }, value: 1_000_000_001 }),
    /maximum allowed value of a user defined priority is 1000000000$/,
  );
  const path = `${classes}/system-cluster-critical`;
  assert.equal((await harness.api.send({ method: 'DELETE', path })).status, 403);
});
