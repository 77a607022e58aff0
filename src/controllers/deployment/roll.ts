// The steps of a roll-out. Each pass takes one: up with the current set, or down with the old ones.
// Upstream: rolling.go and recreate.go in pkg/controller/deployment.
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ReplicaSet } from '../../kinds/replica-set/types.ts';
import { controllerOf } from '../../meta/owner.ts';
import { makeCurrent } from './current-set.ts';
import { maxUnavailable, nextSizeOfCurrent, sizeOf, totalSize, wantedOf } from './limits.ts';
import { allSets, isInUse, type Rollout, scaleTo } from './rollout.ts';
import { scaleOldToNothing } from './scale.ts';

export type Step = {
  readonly rollout: Rollout;
  /** Nothing is left to do but to wait, or to clean up. */
  readonly isSettled: boolean;
};

export function rollOver(start: Rollout, now: number): Step {
  const rollout = makeCurrent(start, now);
  const up = growCurrent(rollout);
  if (up !== rollout) return { rollout: up, isSettled: false };
  const down = shrinkOld(rollout);
  return { rollout: down, isSettled: down === rollout };
}

function growCurrent(rollout: Rollout): Rollout {
  const { deployment, current } = rollout;
  if (current === undefined) return rollout;
  const wanted = wantedOf(deployment);
  const size = sizeOf(current);
  if (size === wanted) return rollout;
  const next = size > wanted ? wanted : nextSizeOfCurrent(deployment, allSets(rollout), size);
  return next === size ? rollout : scaleTo(rollout, current, next);
}

/** First the pods that do not work anyway, then as many as can be missed. */
function shrinkOld(rollout: Rollout): Rollout {
  const { deployment, current, old } = rollout;
  if (totalSize(old) === 0 || current === undefined) return rollout;
  const least = wantedOf(deployment) - maxUnavailable(deployment);
  const notYetUp = sizeOf(current) - availableOf(current);
  const most = totalSize(allSets(rollout)) - least - notYetUp;
  return most <= 0 ? rollout : shrinkHealthy(shrinkUnhealthy(rollout, most), least);
}

const availableOf = ({ status }: ReplicaSet): number => status.availableReplicas ?? 0;

function shrinkUnhealthy(rollout: Rollout, most: number): Rollout {
  let left = most;
  return rollout.old.filter(isInUse).reduce((next, set) => {
    const count = Math.min(left, Math.max(0, sizeOf(set) - availableOf(set)));
    left -= count;
    return count === 0 ? next : scaleTo(next, set, sizeOf(set) - count);
  }, rollout);
}

function shrinkHealthy(rollout: Rollout, least: number): Rollout {
  const available = allSets(rollout).reduce((sum, set) => sum + availableOf(set), 0);
  let left = Math.max(0, available - least);
  return rollout.old.filter(isInUse).reduce((next, set) => {
    const count = Math.min(left, sizeOf(set));
    left -= count;
    return count === 0 ? next : scaleTo(next, set, sizeOf(set) - count);
  }, rollout);
}

/** No pod of the new template before the last of the old ones has ended. */
export function recreate(start: Rollout, pods: readonly Pod[], now: number): Step {
  const emptied = scaleOldToNothing(start);
  if (emptied !== start) return { rollout: emptied, isSettled: false };
  if (hasOldPods(start, pods)) return { rollout: start, isSettled: false };
  const rollout = makeCurrent(start, now);
  const { current, deployment } = rollout;
  const wanted = wantedOf(deployment);
  if (current === undefined || sizeOf(current) === wanted) return { rollout, isSettled: true };
  return { rollout: scaleTo(rollout, current, wanted), isSettled: true };
}

function hasOldPods({ old, current }: Rollout, pods: readonly Pod[]): boolean {
  if (old.some(({ status }) => status.replicas > 0)) return true;
  return pods.some(
    (pod) => !isPodFinished(pod) && controllerOf(pod)?.uid !== current?.metadata.uid,
  );
}
