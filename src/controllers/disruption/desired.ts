// The status of a disruption budget: how many pods may be evicted now. Upstream: pkg/controller/disruption.
import { isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import {
  disruptionVerdict,
  withDisruptionCondition,
} from '../../kinds/pod-disruption-budget/status.ts';
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from '../../kinds/pod-disruption-budget/types.ts';
import { objectKey } from '../../meta/object.ts';
import { deepEqual } from '../../schema/equality.ts';
import { scaledValue } from '../../schema/int-or-string.ts';
import { formatTime, parseTime } from '../../schema/time.ts';

export type BudgetSituation = {
  readonly budget: PodDisruptionBudget;
  /** The pods that it selects. */
  readonly pods: readonly Pod[];
  /** The replicas that the pods' workloads want, all together; used where the budget needs it. */
  readonly scale: number;
  readonly now: number;
};

export type BudgetPlan = {
  /** The same object when nothing changes. */
  readonly status: PodDisruptionBudgetStatus;
  /** Pods that were evicted long ago and are still there. */
  readonly notDeleted: readonly Pod[];
  /** Until an evicted pod counts again. */
  readonly recheckMs?: number;
};

/** After this long an evicted pod that is still there counts again. */
const deletionTimeoutMs = 120_000;

/** Whether the number of pods that must be available follows from the replicas of their workloads. */
export function needsScale({ spec }: PodDisruptionBudget): boolean {
  return spec.maxUnavailable !== undefined || typeof spec.minAvailable === 'string';
}

export function planBudget(situation: BudgetSituation): BudgetPlan {
  const { budget, pods, now } = situation;
  const { expectedPods, desiredHealthy } = expected(situation);
  const disrupted = stillDisrupted(situation);
  const currentHealthy = pods.filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined &&
      !Object.hasOwn(disrupted.pods, metadata.name ?? '') &&
      isPodReady({ status }),
  ).length;
  const spare = currentHealthy - desiredHealthy;
  const disruptionsAllowed = expectedPods > 0 && spare > 0 ? spare : 0;
  const { generation } = budget.metadata;
  const verdict = disruptionVerdict(disruptionsAllowed, generation);
  const status: PodDisruptionBudgetStatus = {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(Object.keys(disrupted.pods).length === 0 ? {} : { disruptedPods: disrupted.pods }),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions: withDisruptionCondition(budget.status.conditions, {
      ...verdict,
      now: formatTime(now),
    }),
  };
  return {
    status: deepEqual(status, budget.status) ? budget.status : status,
    notDeleted: disrupted.notDeleted,
    ...(disrupted.recheckMs === undefined ? {} : { recheckMs: disrupted.recheckMs }),
  };
}

type Expected = { readonly expectedPods: number; readonly desiredHealthy: number };

/** Percentages are rounded up, of what may be unavailable as well. */
function expected({ budget, pods, scale }: BudgetSituation): Expected {
  const { minAvailable, maxUnavailable } = budget.spec;
  if (maxUnavailable !== undefined) {
    const unavailable = scaledValue(maxUnavailable, scale, true);
    return { expectedPods: scale, desiredHealthy: Math.max(0, scale - unavailable) };
  }
  if (typeof minAvailable === 'string')
    return { expectedPods: scale, desiredHealthy: scaledValue(minAvailable, scale, true) };
  return minAvailable === undefined
    ? { expectedPods: 0, desiredHealthy: 0 }
    : { expectedPods: pods.length, desiredHealthy: minAvailable };
}

type Disrupted = {
  readonly pods: Readonly<Record<string, string>>;
  readonly notDeleted: readonly Pod[];
  readonly recheckMs?: number;
};

/** Evicted pods whose deletion the informer does not show yet. */
function stillDisrupted({ budget, pods, now }: BudgetSituation): Disrupted {
  const known = budget.status.disruptedPods ?? {};
  const still: [string, string][] = [];
  const notDeleted: Pod[] = [];
  let recheckMs: number | undefined;
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata;
    const since = Object.hasOwn(known, name) ? known[name] : undefined;
    if (since === undefined || deletionTimestamp !== undefined) continue;
    const left = (parseTime(since) ?? 0) + deletionTimeoutMs - now;
    if (left <= 0) notDeleted.push(pod);
    else {
      still.push([name, since]);
      recheckMs = Math.min(recheckMs ?? left, left);
    }
  }
  return {
    pods: Object.fromEntries(still),
    notDeleted,
    ...(recheckMs === undefined ? {} : { recheckMs }),
  };
}

/** What cannot be calculated allows nothing. */
export function failedStatus(
  { status }: PodDisruptionBudget,
  message: string,
  now: number,
): PodDisruptionBudgetStatus {
  const conditions = withDisruptionCondition(status.conditions, {
    status: 'False',
    ...(status.observedGeneration === undefined
      ? {}
      : { observedGeneration: status.observedGeneration }),
    reason: 'SyncFailed',
    message,
    now: formatTime(now),
  });
  const failed = { ...status, disruptionsAllowed: 0, conditions };
  return deepEqual(failed, status) ? status : failed;
}

export const notDeletedMessage = ({ metadata }: PodDisruptionBudget): string =>
  `Pod was expected by PDB ${objectKey(metadata)} to be deleted but it wasn't`;
