// How many pods a rollout may have too many or too few. Upstream: ResolveFenceposts() in
// pkg/controller/deployment/util.
import type { Deployment } from '../../kinds/deployment/types.ts';
import type { ReplicaSet } from '../../kinds/replica-set/types.ts';
import { scaledValue } from '../../schema/int-or-string.ts';

/** MaxInt32 means no limit. */
const unlimited = 2 ** 31 - 1;

export const wantedOf = ({ spec }: Deployment): number => spec.replicas ?? 1;
export const sizeOf = ({ spec }: ReplicaSet): number => spec.replicas ?? 1;

export const isRolling = ({ spec }: Deployment): boolean => spec.strategy.type !== 'Recreate';

export function hasProgressDeadline({ spec }: Deployment): boolean {
  const { progressDeadlineSeconds } = spec;
  return progressDeadlineSeconds !== undefined && progressDeadlineSeconds !== unlimited;
}

export function historyLimit({ spec }: Deployment): number | undefined {
  const { revisionHistoryLimit } = spec;
  return revisionHistoryLimit === unlimited ? undefined : revisionHistoryLimit;
}

export function maxSurge(deployment: Deployment): number {
  if (!isRolling(deployment)) return 0;
  const { maxSurge: surge = 0 } = deployment.spec.strategy.rollingUpdate ?? {};
  return scaledValue(surge, wantedOf(deployment), true);
}

export function maxUnavailable(deployment: Deployment): number {
  const wanted = wantedOf(deployment);
  if (!isRolling(deployment) || wanted === 0) return 0;
  const { maxUnavailable: missing = 0 } = deployment.spec.strategy.rollingUpdate ?? {};
  const most = scaledValue(missing, wanted, false);
  // Small percentages may both round to 0, which would stop the rollout.
  const needed = most === 0 && maxSurge(deployment) === 0 ? 1 : most;
  return Math.min(needed, wanted);
}

/** The next size of the current replica set. */
export function nextSizeOfCurrent(
  deployment: Deployment,
  all: readonly ReplicaSet[],
  size: number,
): number {
  const wanted = wantedOf(deployment);
  if (!isRolling(deployment)) return wanted;
  const room = wanted + maxSurge(deployment) - totalSize(all);
  return room <= 0 ? size : size + Math.min(room, wanted - size);
}

export function totalSize(sets: readonly ReplicaSet[]): number {
  return sets.reduce((sum, set) => sum + sizeOf(set), 0);
}
