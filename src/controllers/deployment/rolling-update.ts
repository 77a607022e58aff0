// The steps of a rollout. Each sync takes one: scale the current set up, or the old ones down. Upstream: rolling.go and
// recreate.go in pkg/controller/deployment.
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ReplicaSet } from '../../kinds/replica-set/types.ts';
import { controllerOf } from '../../meta/owner.ts';
import { createCurrent } from './current-set.ts';
import { maxUnavailable, nextSizeOfCurrent, sizeOf, totalSize, wantedOf } from './limits.ts';
import { allSets, isInUse, type Rollout, scaleTo } from './rollout-state.ts';
import { scaleOldToNothing } from './scale.ts';

export type Step = {
  readonly rollout: Rollout;
  /** No step remains. */
  readonly isSettled: boolean;
};

export function rollingUpdate(start: Rollout, now: number): Step {
  const rollout = createCurrent(start, now);
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

/** Unhealthy pods first, then as many as maxUnavailable allows. */
function shrinkOld(rollout: Rollout): Rollout {
  const { deployment, current, old } = rollout;
  if (totalSize(old) === 0 || current === undefined) return rollout;
  const minAvailable = wantedOf(deployment) - maxUnavailable(deployment);
  const unavailable = sizeOf(current) - availableOf(current);
  const maxRemovable = totalSize(allSets(rollout)) - minAvailable - unavailable;
  return maxRemovable <= 0
    ? rollout
    : scaleDownHealthy(scaleDownUnhealthy(rollout, maxRemovable), minAvailable);
}

const availableOf = ({ status }: ReplicaSet): number => status.availableReplicas ?? 0;

function scaleDownUnhealthy(rollout: Rollout, maxRemovable: number): Rollout {
  let remaining = maxRemovable;
  return rollout.old.filter(isInUse).reduce((next, set) => {
    const count = Math.min(remaining, Math.max(0, sizeOf(set) - availableOf(set)));
    remaining -= count;
    return count === 0 ? next : scaleTo(next, set, sizeOf(set) - count);
  }, rollout);
}

function scaleDownHealthy(rollout: Rollout, minAvailable: number): Rollout {
  const available = allSets(rollout).reduce((sum, set) => sum + availableOf(set), 0);
  let remaining = Math.max(0, available - minAvailable);
  return rollout.old.filter(isInUse).reduce((next, set) => {
    const count = Math.min(remaining, sizeOf(set));
    remaining -= count;
    return count === 0 ? next : scaleTo(next, set, sizeOf(set) - count);
  }, rollout);
}

/** No pod of the new template is created before the last old one has terminated. */
export function recreate(start: Rollout, pods: readonly Pod[], now: number): Step {
  const emptied = scaleOldToNothing(start);
  if (emptied !== start) return { rollout: emptied, isSettled: false };
  if (hasOldPods(start, pods)) return { rollout: start, isSettled: false };
  const rollout = createCurrent(start, now);
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
