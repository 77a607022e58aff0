import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgedPodCondition, withPodCondition } from './conditions.ts';
import type { PodCondition } from './pod-status.ts';

const earlier = '2026-01-01T00:00:00Z';
const now = '2026-01-02T00:00:00Z';

const condition = (type: string, status: string): PodCondition => ({
  type,
  status,
  lastProbeTime: null,
  lastTransitionTime: earlier,
});

test('a new condition is appended with the current time', () => {
  const before = [condition('Ready', 'False')];
  assert.deepEqual(withPodCondition(before, { type: 'PodScheduled', status: 'True' }, now), [
    ...before,
    { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now },
  ]);
  assert.equal(withPodCondition(undefined, { type: 'Ready', status: 'True' }, now).length, 1);
});

test('an existing condition keeps its position, and its time while the status is unchanged', () => {
  const before = [condition('PodScheduled', 'False'), condition('Ready', 'False')];
  const verdict = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: 'full',
  };
  assert.deepEqual(withPodCondition(before, verdict, now), [
    { ...verdict, lastProbeTime: null, lastTransitionTime: earlier },
    before[1],
  ]);
  const changed = withPodCondition(before, { type: 'PodScheduled', status: 'True' }, now);
  assert.deepEqual(changed, [
    { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now },
    before[1],
  ]);
});

test('a condition has the observed generation', () => {
  const judged = judgedPodCondition(
    [],
    { type: 'Ready', status: 'True', observedGeneration: 2 },
    now,
  );
  assert.equal(judged.observedGeneration, 2);
});
