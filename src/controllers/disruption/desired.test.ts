import assert from 'node:assert/strict';
import { test } from 'node:test';
import { now, podOf } from '../../kinds/pod/example.ts';
import type { PodDisruptionBudget } from '../../kinds/pod-disruption-budget/types.ts';
import { failedStatus, planBudget } from './desired.ts';
import { goSelector } from './go-selector.ts';

const nothing = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
const budget = (spec: object, status: object = {}): PodDisruptionBudget => ({
  kind: 'PodDisruptionBudget',
  apiVersion: 'policy/v1',
  metadata: { name: 'b', namespace: 'default', generation: 2 },
  spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  status: { ...nothing, ...status },
});
const ready = [podOf('a', 10), podOf('b', 10), podOf('c', 10)];

for (const [what, spec, scale, expected] of [
  ['a number', { minAvailable: 2 }, 0, [1, 3, 2, 3]],
  ['a number above all pods', { minAvailable: 5 }, 0, [0, 3, 5, 3]],
  ['a percentage, rounded up', { minAvailable: '50%' }, 5, [0, 3, 3, 5]],
  ['what may be unavailable', { maxUnavailable: 1 }, 3, [1, 3, 2, 3]],
  ['a percentage of that, rounded up', { maxUnavailable: '30%' }, 3, [1, 3, 2, 3]],
  ['more than there are', { maxUnavailable: 9 }, 3, [3, 3, 0, 3]],
  ['no replicas', { maxUnavailable: 9 }, 0, [0, 3, 0, 0]],
  ['nothing', {}, 0, [0, 3, 0, 0]],
] as const) {
  test(`planBudget() of ${what}`, () => {
    const { status } = planBudget({ budget: budget(spec), pods: ready, scale, now });
    const { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods } = status;
    assert.deepEqual([disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods], expected);
    assert.equal(status.observedGeneration, 2);
    const reason = expected[0] > 0 ? 'SufficientPods' : 'InsufficientPods';
    assert.equal(status.conditions?.[0]?.reason, reason);
  });
}

test('planBudget() does not count pods that are evicted, on their way out or not ready', () => {
  const leaving = podOf('leaving', 10, {
    metadata: { name: 'leaving', deletionTimestamp: '2026-01-02T00:00:30Z' },
  });
  const pods = [...ready, podOf('unready'), leaving];
  const disruptedPods = { a: '2026-01-01T23:59:00Z', gone: '2026-01-01T23:59:00Z' };
  const plan = planBudget({
    budget: budget({ minAvailable: 1 }, { disruptedPods }),
    pods,
    scale: 0,
    now,
  });
  assert.equal(plan.status.currentHealthy, 2);
  assert.deepEqual(plan.status.disruptedPods, { a: '2026-01-01T23:59:00Z' });
  assert.equal(plan.recheckMs, 60_000);
  const later = planBudget({
    budget: budget({ minAvailable: 1 }, { disruptedPods }),
    pods,
    scale: 0,
    now: now + 60_000,
  });
  assert.equal(later.status.currentHealthy, 3);
  assert.deepEqual(
    later.notDeleted.map(({ metadata }) => metadata.name),
    ['a'],
  );
});

test('planBudget() and failedStatus() return the same status when nothing changes', () => {
  const first = planBudget({ budget: budget({ minAvailable: 1 }), pods: ready, scale: 0, now });
  const known = { ...budget({ minAvailable: 1 }), status: first.status };
  const again = planBudget({ budget: known, pods: ready, scale: 0, now: now + 5000 });
  assert.equal(again.status, known.status);
  const failed = failedStatus(known, 'no', now);
  assert.deepEqual([failed.disruptionsAllowed, failed.conditions?.[0]?.reason], [0, 'SyncFailed']);
  assert.equal(failedStatus({ ...known, status: failed }, 'no', now + 5000), failed);
});

test('goSelector() prints as Go does', () => {
  assert.equal(goSelector(undefined), 'nil');
  assert.equal(
    goSelector({
      matchLabels: { b: '2', a: '1' },
      matchExpressions: [{ key: 'k', operator: 'In', values: ['x', 'y'] }],
    }),
    '&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}',
  );
});
