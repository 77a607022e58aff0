// The status of budgets, as the controller and the eviction of a pod write it.
import type { Condition } from '../../meta/conditions.ts';
import type { PodDisruptionBudget } from './types.ts';

const disruptionAllowed = 'DisruptionAllowed';

/** Replaces the condition; its time is that of the last change of status. */
export function withDisruptionCondition(
  conditions: readonly Condition[] | undefined,
  { now, ...verdict }: Omit<Condition, 'type' | 'lastTransitionTime'> & { readonly now: string },
): readonly Condition[] {
  const all = conditions ?? [];
  const index = all.findIndex(({ type }) => type === disruptionAllowed);
  const before = all[index];
  const condition: Condition = {
    type: disruptionAllowed,
    ...verdict,
    lastTransitionTime: before?.status === verdict.status ? before.lastTransitionTime : now,
  };
  return before === undefined ? [...all, condition] : all.with(index, condition);
}

/** The condition that follows from the number of disruptions. */
export function disruptionVerdict(
  allowed: number,
  observedGeneration: number | undefined,
): Omit<Condition, 'type' | 'lastTransitionTime'> {
  return {
    status: allowed > 0 ? 'True' : 'False',
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
    message: '',
  };
}

/** A pod is about to be evicted: the controller must not count it as available until it has gone. */
export function withoutDisruption(
  budget: PodDisruptionBudget,
  pod: string,
  now: string,
): PodDisruptionBudget {
  const { status, metadata } = budget;
  const disruptionsAllowed = status.disruptionsAllowed - 1;
  const verdict = disruptionVerdict(disruptionsAllowed, metadata.generation);
  return {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed,
      disruptedPods: { ...status.disruptedPods, [pod]: now },
      ...(disruptionsAllowed === 0
        ? { conditions: withDisruptionCondition(status.conditions, { ...verdict, now }) }
        : {}),
    },
  };
}
