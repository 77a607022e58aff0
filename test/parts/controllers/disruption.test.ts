// Disruption budgets and evictions against the whole API server, many at once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Event } from '../../../src/kinds/event/types.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import type { PodDisruptionBudget } from '../../../src/kinds/pod-disruption-budget/types.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import { type ControllerHarness, startControllerHarness } from '../harness/controller-harness.ts';
import { markReady } from '../harness/node-agent.ts';

let harness: ControllerHarness;
before(async () => {
  harness = await startControllerHarness();
});
after(() => harness.stop());

const labels = { app: 'web' };
const podsPath = (ns: string): string => `/api/v1/namespaces/${ns}/pods`;
const budgetPath = (ns: string): string => `/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets`;
const podsIn = (ns: string): Promise<readonly Pod[]> => harness.list<Pod>(podsPath(ns));
const statusIn = async (ns: string): Promise<PodDisruptionBudget['status']> =>
  (await harness.api.get<PodDisruptionBudget>(`${budgetPath(ns)}/budget`)).status;

async function makePods(ns: string, count: number, isReady = true): Promise<void> {
  await harness.makeNamespace(ns);
  for (let index = 0; index < count; index += 1) {
    const pod = await harness.api.post<Pod>(podsPath(ns), {
      metadata: { name: `p${index}`, labels },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    if (isReady) await markReady(harness, pod);
  }
}

async function makeBudget(ns: string, spec: object): Promise<void> {
  await harness.api.post(budgetPath(ns), {
    metadata: { name: 'budget' },
    spec: { selector: { matchLabels: labels }, ...spec },
  });
  await harness.until('it is judged', async () => (await statusIn(ns)).conditions !== undefined);
}

const evict = (ns: string, name: string, more: object = {}) =>
  harness.api.send<Status>({
    method: 'POST',
    path: `${podsPath(ns)}/${name}/eviction`,
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, ...more },
  });

test('of many evictions at once, as many succeed as the budget allows', async () => {
  await makePods('burst', 60);
  await makeBudget('burst', { minAvailable: 50 });
  assert.equal((await statusIn('burst')).disruptionsAllowed, 10);
  const answers = await Promise.all(
    (await podsIn('burst')).map(({ metadata }) => evict('burst', metadata.name ?? '')),
  );
  const codes = answers.map(({ status }) => status);
  assert.equal(codes.filter((code) => code === 201).length, 10);
  assert.equal(codes.filter((code) => code === 429).length, 50);
  const refused = answers.find(({ status }) => status === 429)?.body;
  assert.deepEqual(refused?.details?.causes, [
    {
      reason: 'DisruptionBudget',
      message: 'The disruption budget budget needs 50 healthy pods and has 60 currently',
    },
  ]);
  await harness.until(
    'the budget sees it',
    async () => (await statusIn('burst')).expectedPods === 50,
  );
  assert.equal((await podsIn('burst')).length, 50);
  assert.deepEqual(
    [(await statusIn('burst')).disruptionsAllowed, (await statusIn('burst')).disruptedPods],
    [0, undefined],
  );
});

test('never fewer pods than the budget wants, while a replica set replaces them', async () => {
  await harness.makeNamespace('rolling');
  await harness.api.post('/apis/apps/v1/namespaces/rolling/replicasets', {
    metadata: { name: 'web' },
    spec: {
      replicas: 10,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      },
    },
  });
  const isReady = ({ status }: Pod): boolean =>
    status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  const readyPods = async (): Promise<readonly Pod[]> => (await podsIn('rolling')).filter(isReady);
  const agent = async (): Promise<void> => {
    for (const pod of await podsIn('rolling')) if (!isReady(pod)) await markReady(harness, pod);
  };
  await harness.until('ten pods', async () => {
    await agent();
    return (await readyPods()).length === 10;
  });
  await makeBudget('rolling', { maxUnavailable: '30%' });
  const original = new Set((await podsIn('rolling')).map(({ metadata }) => metadata.uid));
  await harness.until('all of them are evicted', async () => {
    const old = (await podsIn('rolling')).filter(({ metadata }) => original.has(metadata.uid));
    await Promise.all(old.map(({ metadata }) => evict('rolling', metadata.name ?? '')));
    const ready = (await readyPods()).length;
    assert.ok(ready >= 7, `only ${ready} pods are ready`);
    await agent();
    return old.length === 0;
  });
});

test('pods that have not started are evicted, and those that are not ready as the budget says', async () => {
  await makePods('unready', 2, false);
  await makeBudget('unready', { minAvailable: 1, unhealthyPodEvictionPolicy: 'IfHealthyBudget' });
  assert.equal((await evict('unready', 'p0')).status, 201);
  const running = { status: { phase: 'Running' } };
  await harness.api.patch(`${podsPath('unready')}/p1/status`, running);
  assert.equal((await evict('unready', 'p1')).status, 429);
  await harness.api.patch(`${budgetPath('unready')}/budget`, {
    spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
  });
  assert.equal((await evict('unready', 'p1')).status, 201);
});

test('an eviction waits for the controller to see the budget, and a dry run takes nothing', async () => {
  await makePods('dry', 1);
  await makeBudget('dry', { minAvailable: 0 });
  const dry = await evict('dry', 'p0', { deleteOptions: { dryRun: ['All'] } });
  assert.equal(dry.status, 201);
  assert.equal((await statusIn('dry')).disruptionsAllowed, 1);
  await harness.api.patch(`${budgetPath('dry')}/budget/status`, {
    status: { observedGeneration: 0, disruptionsAllowed: 1 },
  });
  const early = await evict('dry', 'p0');
  // Unless the controller was faster.
  if (early.status !== 201) {
    assert.equal(early.status, 429);
    assert.equal(early.body.details?.retryAfterSeconds, 10);
  }
});

test('a pod that was evicted and stays counts again after two minutes', async () => {
  await makePods('stays', 3);
  await makeBudget('stays', { minAvailable: 1 });
  await harness.api.patch(`${budgetPath('stays')}/budget/status`, {
    status: { disruptedPods: { p0: '2026-01-01T00:00:00Z' } },
  });
  await harness.until(
    'it is forgotten',
    async () => {
      const { currentHealthy, disruptedPods } = await statusIn('stays');
      return currentHealthy === 3 && disruptedPods === undefined;
    },
    300_000,
  );
  const events = await harness.list<Event>('/api/v1/namespaces/stays/events');
  assert.ok(events.some(({ reason }) => reason === 'NotDeleted'));
});

test('a percentage of what has no replicas allows nothing, and says why', async () => {
  await harness.makeNamespace('jobs');
  await harness.api.post('/apis/batch/v1/namespaces/jobs/jobs', {
    metadata: { name: 'job' },
    spec: {
      template: {
        metadata: { labels },
        spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
      },
    },
  });
  await harness.until('its pod', async () => (await podsIn('jobs')).length === 1);
  await makeBudget('jobs', { maxUnavailable: 1 });
  await harness.until('the reason', async () => {
    const [condition] = (await statusIn('jobs')).conditions ?? [];
    return (
      condition?.reason === 'SyncFailed' &&
      condition.message === 'jobs.batch does not implement the scale subresource'
    );
  });
});
