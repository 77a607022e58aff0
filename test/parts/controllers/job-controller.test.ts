// Jobs against the whole API server. Time stands still until a test moves it; the tests play the kubelet.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Event } from '../../../src/kinds/event/types.ts';
import type { Job, JobStatus } from '../../../src/kinds/job/types.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { formatTime } from '../../../src/schema/time.ts';
import { type ControllerHarness, startControllerHarness } from '../harness/controller-harness.ts';

let harness: ControllerHarness;
before(async () => {
  harness = await startControllerHarness();
});
after(() => harness.stop());

const until: ControllerHarness['until'] = (...args) => harness.until(...args);
const jobsPath = (ns: string): string => `/apis/batch/v1/namespaces/${ns}/jobs`;
const podsPath = (ns: string): string => `/api/v1/namespaces/${ns}/pods`;
const podSpec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] };

async function makeJob(ns: string, spec: object): Promise<Job> {
  await harness.makeNamespace(ns);
  return harness.api.post<Job>(jobsPath(ns), {
    metadata: { name: 'job' },
    spec: { template: { spec: podSpec }, ...spec },
  });
}
const jobIn = (ns: string): Promise<Job> => harness.api.get<Job>(`${jobsPath(ns)}/job`);
const podsIn = (ns: string): Promise<readonly Pod[]> => harness.list<Pod>(podsPath(ns));
const statusIn = async (ns: string): Promise<JobStatus> => (await jobIn(ns)).status;
const livePods = async (ns: string): Promise<readonly Pod[]> =>
  (await podsIn(ns)).filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined &&
      status.phase !== 'Succeeded' &&
      status.phase !== 'Failed',
  );
const indexOf = ({ metadata }: Pod): string | undefined =>
  metadata.annotations?.['batch.kubernetes.io/job-completion-index'];

/** What the kubelet reports of a pod that ends. */
async function end(pod: Pod, exitCode: number, conditions: readonly object[] = []): Promise<void> {
  const time = formatTime(harness.clock.now());
  const terminated = { exitCode, finishedAt: time, startedAt: time };
  const state = { terminated };
  const base = { name: 'c', image: 'i', imageID: 'i', ready: false, restartCount: 0 };
  await harness.api.patch(`${podsPath(pod.metadata.namespace ?? '')}/${pod.metadata.name}/status`, {
    status: {
      phase: exitCode === 0 ? 'Succeeded' : 'Failed',
      containerStatuses: [{ ...base, state }],
      conditions,
    },
  });
}

async function endLive(ns: string, exitCode: number): Promise<void> {
  for (const pod of await livePods(ns)) await end(pod, exitCode);
}

const conditionsIn = async (ns: string): Promise<readonly string[]> =>
  ((await statusIn(ns)).conditions ?? []).map(({ type, reason }) => `${type}: ${reason}`);
const hasFinished = (ns: string) => async (): Promise<boolean> =>
  (await conditionsIn(ns)).some((text) => /^(Complete|Failed):/.test(text));

test('a job runs until enough pods have succeeded, and says so', async () => {
  await makeJob('runs', { completions: 5, parallelism: 2 });
  for (let round = 0; round < 3; round += 1) {
    await until('pods run', async () => (await livePods('runs')).length > 0);
    assert.ok((await livePods('runs')).length <= 2);
    await endLive('runs', 0);
    await until('they are counted', async () => (await statusIn('runs')).succeeded !== undefined);
  }
  await until('it completes', async () => {
    await endLive('runs', 0);
    return hasFinished('runs')();
  });
  const status = await statusIn('runs');
  assert.equal(status.succeeded, 5);
  assert.deepEqual(status.uncountedTerminatedPods, {});
  assert.equal((await podsIn('runs')).length, 5);
  assert.ok((await podsIn('runs')).every(({ metadata }) => metadata.finalizers === undefined));
  await until('the event', async () => {
    const events = await harness.list<Event>('/api/v1/namespaces/runs/events');
    return events.some(
      ({ reason, message }) => reason === 'Completed' && message === 'Job completed',
    );
  });
});

test('a job backs off longer with each failure, and gives up', async () => {
  await makeJob('fails', { backoffLimit: 2 });
  const starts: number[] = [];
  for (let failure = 0; failure < 3; failure += 1) {
    await until('a pod runs', async () => (await livePods('fails')).length === 1);
    starts.push(harness.clock.now());
    await endLive('fails', 1);
  }
  await until('it fails', hasFinished('fails'));
  const [first = 0, second = 0, third = 0] = starts;
  // Ends are known to the second.
  assert.ok(second - first >= 9000 && second - first < 12_000, `${second - first}`);
  assert.ok(third - second >= 19_000 && third - second < 23_000, `${third - second}`);
  assert.deepEqual(await conditionsIn('fails'), [
    'FailureTarget: BackoffLimitExceeded',
    'Failed: BackoffLimitExceeded',
  ]);
  assert.equal((await statusIn('fails')).failed, 3);
});

test('a suspended job has no pods; what it stops is not counted', async () => {
  await makeJob('suspends', { suspend: true, completions: 2, parallelism: 2 });
  await until('it says so', async () => (await conditionsIn('suspends')).length === 1);
  assert.deepEqual(await podsIn('suspends'), []);
  assert.equal((await statusIn('suspends')).startTime, undefined);
  const suspend = (value: boolean): Promise<unknown> =>
    harness.api.patch(`${jobsPath('suspends')}/job`, { spec: { suspend: value } });
  await suspend(false);
  await until('it runs', async () => (await livePods('suspends')).length === 2);
  await suspend(true);
  await until('its pods go', async () => (await podsIn('suspends')).length === 0);
  const { failed, startTime } = await statusIn('suspends');
  assert.equal(failed, undefined);
  // Its time begins anew.
  await harness.clock.advance(5000);
  await suspend(false);
  await until('it runs again', async () => (await livePods('suspends')).length === 2);
  await until('it says so', async () => (await statusIn('suspends')).active === 2);
  assert.notEqual((await statusIn('suspends')).startTime, startTime);
  await endLive('suspends', 0);
  await until('it completes', hasFinished('suspends'));
});

test('an indexed job gives each pod its index, and ends when one may not fail any more', async () => {
  await makeJob('indexes', {
    completionMode: 'Indexed',
    completions: 4,
    parallelism: 4,
    backoffLimitPerIndex: 1,
    maxFailedIndexes: 1,
  });
  await until('four pods', async () => (await livePods('indexes')).length === 4);
  const first = await livePods('indexes');
  assert.deepEqual(first.map(({ spec }) => spec.hostname).sort(), [
    'job-0',
    'job-1',
    'job-2',
    'job-3',
  ]);
  const count = 'batch.kubernetes.io/job-index-failure-count';
  assert.ok(first.every(({ metadata }) => metadata.annotations?.[count] === '0'));
  const endIndex = async (index: string, exitCode: number): Promise<void> => {
    await until(`index ${index} runs`, async () =>
      (await livePods('indexes')).some((pod) => indexOf(pod) === index),
    );
    const pods = (await livePods('indexes')).filter((pod) => indexOf(pod) === index);
    for (const pod of pods) await end(pod, exitCode);
  };
  await endIndex('0', 0);
  await endIndex('1', 1);
  await until('it is replaced, with its count', async () =>
    (await livePods('indexes')).some(
      (pod) => indexOf(pod) === '1' && pod.metadata.annotations?.[count] === '1',
    ),
  );
  await endIndex('1', 1);
  await until(
    'the index has failed',
    async () => (await statusIn('indexes')).failedIndexes === '1',
  );
  assert.equal(await hasFinished('indexes')(), false);
  await endIndex('2', 1);
  await endIndex('2', 1);
  await until('it fails', hasFinished('indexes'));
  const status = await statusIn('indexes');
  assert.equal(status.completedIndexes, '0');
  assert.equal(status.failedIndexes, '1,2');
  assert.match((await conditionsIn('indexes')).join(), /MaxFailedIndexesExceeded/);
});

test('a job with all indexes ended fails when one has failed', async () => {
  await makeJob('some', {
    completionMode: 'Indexed',
    completions: 2,
    parallelism: 2,
    backoffLimitPerIndex: 0,
  });
  await until('two pods', async () => (await livePods('some')).length === 2);
  for (const pod of await livePods('some')) await end(pod, indexOf(pod) === '0' ? 0 : 1);
  await until('it fails', hasFinished('some'));
  assert.match((await conditionsIn('some')).join(), /Failed: FailedIndexes/);
});

test('a failure policy fails the job at once, or ignores disruptions', async () => {
  const rules = [
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] },
    { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
  ];
  await makeJob('policy', { backoffLimit: 0, podFailurePolicy: { rules } });
  await until('a pod', async () => (await livePods('policy')).length === 1);
  const [pod] = await livePods('policy');
  assert.ok(pod);
  await end(pod, 137, [{ type: 'DisruptionTarget', status: 'True' }]);
  await until('it is replaced', async () => (await livePods('policy')).length === 1);
  assert.equal((await statusIn('policy')).failed, undefined);
  const [second] = await livePods('policy');
  assert.ok(second);
  await end(second, 42);
  await until('it fails', hasFinished('policy'));
  const [target] = (await statusIn('policy')).conditions ?? [];
  assert.equal(target?.reason, 'PodFailurePolicy');
  assert.equal(
    target?.message,
    `Container c for pod policy/${second.metadata.name} failed with exit code 42 matching FailJob rule at index 1`,
  );
});

test('a pod is replaced only when it has failed, where the job says so', async () => {
  // On a node, so that nothing but its kubelet ends it.
  const template = { spec: { ...podSpec, nodeName: 'n1' } };
  await makeJob('replaces', { podReplacementPolicy: 'Failed', template });
  await until('a pod', async () => (await livePods('replaces')).length === 1);
  const [pod] = await livePods('replaces');
  // A pod with a node has a grace period.
  await harness.api.patch(`${podsPath('replaces')}/${pod?.metadata.name}`, {
    metadata: { finalizers: ['example.com/hold', 'batch.kubernetes.io/job-tracking'] },
  });
  await harness.api.delete(`${podsPath('replaces')}/${pod?.metadata.name}`);
  await until('it is terminating', async () => (await statusIn('replaces')).terminating === 1);
  await harness.clock.advance(15_000);
  assert.equal((await podsIn('replaces')).length, 1);
  const [terminating] = await podsIn('replaces');
  assert.ok(terminating);
  await end(terminating, 1);
  await until('it is replaced', async () => (await livePods('replaces')).length === 1);
});

test('pods are adopted by their labels and released with their finalizer', async () => {
  const job = await makeJob('adopts', { parallelism: 1 });
  await until('a pod', async () => (await livePods('adopts')).length === 1);
  const [pod] = await livePods('adopts');
  const path = `${podsPath('adopts')}/${pod?.metadata.name}`;
  const read = (): Promise<Pod> => harness.api.get<Pod>(path);
  await harness.api.patch(path, { metadata: { ownerReferences: null } });
  await until('it is taken back', async () => {
    const { ownerReferences = [], finalizers = [] } = (await read()).metadata;
    return ownerReferences[0]?.uid === job.metadata.uid && finalizers.length === 1;
  });
  await harness.api.patch(path, { metadata: { labels: null } });
  await until('it is released', async () => {
    const { ownerReferences, finalizers } = (await read()).metadata;
    return ownerReferences === undefined && finalizers === undefined;
  });
  await until('and replaced', async () => (await podsIn('adopts')).length === 2);
});

test('a job that another controller manages is left alone', async () => {
  await makeJob('managed', { managedBy: 'example.com/other' });
  await harness.clock.advance(5000);
  assert.deepEqual(await podsIn('managed'), []);
  assert.deepEqual(await statusIn('managed'), {});
});

test('a finished job expires after its time, and its pods go with it', async () => {
  await makeJob('expires', { ttlSecondsAfterFinished: 30 });
  await until('a pod', async () => (await livePods('expires')).length === 1);
  await endLive('expires', 0);
  await until('it completes', hasFinished('expires'));
  await harness.clock.advance(20_000);
  assert.equal(await harness.isGone(`${jobsPath('expires')}/job`), false);
  await until('it expires', () => harness.isGone(`${jobsPath('expires')}/job`));
  await until('its pods go', async () => (await podsIn('expires')).length === 0);
});

test('an elastic indexed job is scaled down and up again', async () => {
  const spec = { completionMode: 'Indexed', completions: 3, parallelism: 3 };
  await makeJob('elastic', spec);
  await until('three pods', async () => (await livePods('elastic')).length === 3);
  for (const pod of await livePods('elastic')) if (indexOf(pod) === '2') await end(pod, 0);
  await until('one is counted', async () => (await statusIn('elastic')).completedIndexes === '2');
  const scale = (count: number): Promise<unknown> =>
    harness.api.patch(`${jobsPath('elastic')}/job`, {
      spec: { completions: count, parallelism: count },
    });
  await scale(2);
  await until('the index is forgotten', async () => {
    const { completedIndexes, succeeded } = await statusIn('elastic');
    return completedIndexes === undefined && succeeded === undefined;
  });
  await endLive('elastic', 0);
  await until('it completes', hasFinished('elastic'));
  assert.equal((await statusIn('elastic')).completedIndexes, '0,1');
});

test('the end of a namespace takes its jobs and their pods', async () => {
  await makeJob('ends', { completions: 3, parallelism: 3 });
  await until('pods', async () => (await livePods('ends')).length === 3);
  await harness.api.delete('/api/v1/namespaces/ends');
  await until('it is gone', () => harness.isGone('/api/v1/namespaces/ends'));
});
