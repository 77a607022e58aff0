import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleJob } from '../../kinds/job/example.ts';
import { now, podOf } from '../../kinds/pod/example.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { planCounts } from './count-pods.ts';
import { type PodPlan, planPods } from './plan-pods.ts';
import { judgeJob } from './verdict.ts';
import { type JobView, viewJob } from './view.ts';

const tracking = 'batch.kubernetes.io/job-tracking';
const ago = (seconds: number): string =>
  `${new Date(now - seconds * 1000).toISOString().slice(0, 19)}Z`;

type Given = { readonly phase?: string; readonly index?: number; readonly more?: object };

/** A pod of the job, which ended 20 s ago if it did. */
function pod(name: string, { phase = 'Running', index, more = {} }: Given = {}): Pod {
  const base = podOf(name);
  const annotations =
    index === undefined
      ? {}
      : { annotations: { 'batch.kubernetes.io/job-completion-index': String(index) } };
  const hasEnded = phase === 'Succeeded' || phase === 'Failed';
  const terminated = { exitCode: phase === 'Failed' ? 1 : 0, finishedAt: ago(20) };
  return {
    ...base,
    metadata: { ...base.metadata, finalizers: [tracking], ...annotations, ...more },
    status: {
      phase,
      ...(hasEnded ? { containerStatuses: [{ name: 'c', state: { terminated } }] } : {}),
    } as unknown as Pod['status'],
  };
}

const view = (spec: object, pods: readonly Pod[], status: object = {}): JobView =>
  viewJob({ job: exampleJob({ spec, status }), pods, backOff: undefined, now });
const planOf = (spec: object, pods: readonly Pod[], status: object = {}): PodPlan =>
  planPods(view(spec, pods, status));
const deleted = (plan: PodPlan): readonly (string | undefined)[] =>
  plan.delete.map(({ metadata }) => metadata.name).sort();

const indexed = { completionMode: 'Indexed', completions: 4, parallelism: 2 };
const running = (count: number): readonly Pod[] =>
  Array.from({ length: count }, (_, index) => pod(`p${index}`));

for (const [what, spec, pods, create, surplus] of [
  ['creates as many as run at a time', { completions: 5, parallelism: 3 }, [], 3, 0],
  ['creates no more than are missing', { completions: 5, parallelism: 9 }, running(4), 1, 0],
  ['creates at most 500', { completions: 2000, parallelism: 1000 }, [], 500, 0],
  ['deletes surplus pods', { completions: 5, parallelism: 1 }, running(3), 0, 2],
  ['deletes all pods of a suspended job', { suspend: true }, running(2), 0, 2],
  [
    'leaves pods of a job without completions alone after a success',
    { parallelism: 3 },
    [pod('ended', { phase: 'Succeeded' }), ...running(1)],
    0,
    0,
  ],
] as const) {
  test(`planPods() ${what}`, () => {
    const plan = planOf(spec, pods);
    assert.deepEqual([plan.create.length, plan.delete.length], [create, surplus]);
  });
}

test('planPods() creates the lowest indexes that neither ended nor run', () => {
  const pods = [pod('one', { index: 1 }), pod('zero', { index: 0, phase: 'Succeeded' })];
  assert.deepEqual(planOf(indexed, pods).create, [2]);
  assert.deepEqual(planOf({ ...indexed, parallelism: 4 }, pods).create, [2, 3]);
  assert.deepEqual(
    planOf({ ...indexed, parallelism: 4 }, [], { completedIndexes: '1,2' }).create,
    [0, 3],
  );
});

test('planPods() deletes pods without an index, beyond the completions, and repeated ones', () => {
  const pods = [
    pod('none'),
    pod('beyond', { index: 4 }),
    pod('first', { index: 0 }),
    pod('second', { index: 0 }),
  ];
  const plan = planOf(indexed, pods);
  assert.equal(plan.delete.length, 3);
  assert.deepEqual(
    deleted(plan).filter((name) => name === 'none' || name === 'beyond'),
    ['beyond', 'none'],
  );
});

test('planPods() waits longer after each failure', () => {
  const failed = (count: number): readonly Pod[] =>
    Array.from({ length: count }, (_, index) => pod(`f${index}`, { phase: 'Failed' }));
  const spec = { backoffLimit: 100 };
  assert.equal(planOf(spec, failed(1)).create.length, 1);
  assert.equal(planOf(spec, failed(3)).waitMs, 20_000);
  assert.equal(planOf(spec, failed(20)).waitMs, 580_000);
});

test('planPods() waits for each index alone where failures of an index are limited', () => {
  const spec = { ...indexed, backoffLimitPerIndex: 5 };
  const often = {
    annotations: {
      'batch.kubernetes.io/job-completion-index': '0',
      'batch.kubernetes.io/job-index-failure-count': '2',
    },
  };
  const plan = planOf(spec, [pod('f', { phase: 'Failed', more: often })]);
  assert.deepEqual(plan.create, [1]);
  assert.equal(plan.waitMs, 20_000);
});

test('judgeJob() fails for the first reason there is', () => {
  const reasonOf = (spec: object, pods: readonly Pod[], status: object = {}) =>
    judgeJob(view(spec, pods, status))?.reason;
  const failed = pod('f', { phase: 'Failed' });
  assert.equal(reasonOf({ backoffLimit: 0 }, [failed]), 'BackoffLimitExceeded');
  assert.equal(reasonOf({ backoffLimit: 1 }, [failed]), undefined);
  const restarted = {
    ...pod('r'),
    status: { phase: 'Running', containerStatuses: [{ name: 'c', restartCount: 3, state: {} }] },
  } as unknown as Pod;
  const onFailure = {
    backoffLimit: 3,
    template: { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'c', image: 'i' }] } },
  };
  assert.equal(reasonOf(onFailure, [restarted]), 'BackoffLimitExceeded');
  const started = { startTime: ago(60) };
  assert.equal(reasonOf({ activeDeadlineSeconds: 60 }, [], started), 'DeadlineExceeded');
  assert.equal(reasonOf({ activeDeadlineSeconds: 61 }, [], started), undefined);
  assert.equal(reasonOf({ activeDeadlineSeconds: 1, suspend: true }, [], started), undefined);
});

test('judgeJob() ends a job by its success policy', () => {
  const spec = {
    ...indexed,
    successPolicy: { rules: [{ succeededIndexes: '1-3', succeededCount: 2 }] },
  };
  const judged = (completedIndexes: string) => judgeJob(view(spec, [], { completedIndexes }));
  assert.equal(judged('0,1'), undefined);
  assert.deepEqual(judged('1,3'), {
    type: 'SuccessCriteriaMet',
    reason: 'SuccessPolicy',
    message: 'Matched rules at index 0',
  });
});

test('planCounts() enters a pod once, and moves it to the counters when its finalizer has gone', () => {
  const ended = pod('ended', { phase: 'Succeeded' });
  const first = planCounts(view({}, [ended]), {}, undefined);
  assert.deepEqual(first.status.uncountedTerminatedPods, { succeeded: ['ended'] });
  assert.deepEqual(first.release, [ended]);
  const again = planCounts(view({}, [ended], first.status), first.status, undefined);
  assert.deepEqual(again.status.uncountedTerminatedPods, { succeeded: ['ended'] });
  const gone = planCounts(view({}, [], first.status), first.status, undefined);
  assert.deepEqual(gone.status.uncountedTerminatedPods, {});
  assert.equal(gone.status.succeeded, 1);
});

test('planCounts() takes at most 500 pods at a time', () => {
  const many = Array.from({ length: 700 }, (_, index) => pod(`p${index}`, { phase: 'Failed' }));
  const plan = planCounts(view({ backoffLimit: 1000 }, many), {}, undefined);
  assert.equal(plan.release.length, 500);
  assert.ok(plan.isPartial);
});

test('planCounts() counts the pods that a failed job ends', () => {
  const verdict = { type: 'FailureTarget', reason: 'r', message: 'm' } as const;
  const plan = planCounts(view({}, running(2)), {}, verdict);
  assert.deepEqual(plan.status.uncountedTerminatedPods, { failed: ['p0', 'p1'] });
  const met = { ...verdict, type: 'SuccessCriteriaMet' } as const;
  const success = planCounts(view({}, running(2)), {}, met);
  assert.deepEqual(success.status.uncountedTerminatedPods, {});
  assert.equal(success.release.length, 2);
});
