// Proportional scaling: when the size of a deployment changes during a rollout, each replica set gets its share.
// Upstream: scale() in pkg/controller/deployment/sync.go.
import type { Deployment } from '../../kinds/deployment/types.ts';
import type { ReplicaSet } from '../../kinds/replica-set/types.ts';
import { desiredReplicasAnnotation, maxReplicasAnnotation, numberIn } from './annotations.ts';
import { isRolling, maxSurge, sizeOf, totalSize, wantedOf } from './limits.ts';
import { allSets, byAge, isInUse, type Rollout, scaleTo } from './rollout-state.ts';

/** Whether a set was last scaled for another size of the deployment. */
export function isToBeScaled(rollout: Rollout): boolean {
  return allSets(rollout)
    .filter(isInUse)
    .some((set) => {
      const scaledFor = numberIn(set, desiredReplicasAnnotation);
      return scaledFor !== undefined && scaledFor !== wantedOf(rollout.deployment);
    });
}

export function scale(rollout: Rollout): Rollout {
  const wanted = wantedOf(rollout.deployment);
  const single = onlyOneInUse(rollout);
  if (single !== undefined) {
    return sizeOf(single) === wanted ? rollout : scaleTo(rollout, single, wanted);
  }
  if (isSaturated(rollout)) return scaleOldToNothing(rollout);
  return isRolling(rollout.deployment) ? scaleInProportion(rollout) : rollout;
}

/** The only set with pods; when none has pods, the current set or else the newest. */
function onlyOneInUse(rollout: Rollout): ReplicaSet | undefined {
  const inUse = allSets(rollout).filter(isInUse);
  if (inUse.length > 1) return undefined;
  return inUse[0] ?? rollout.current ?? rollout.old.at(-1);
}

/** The current set is complete. */
function isSaturated({ deployment, current }: Rollout): boolean {
  const wanted = wantedOf(deployment);
  return (
    current !== undefined &&
    sizeOf(current) === wanted &&
    numberIn(current, desiredReplicasAnnotation) === wanted &&
    (current.status.availableReplicas ?? 0) === wanted
  );
}

export function scaleOldToNothing(rollout: Rollout): Rollout {
  return rollout.old.filter(isInUse).reduce((next, set) => scaleTo(next, set, 0), rollout);
}

function scaleInProportion(rollout: Rollout): Rollout {
  const { deployment } = rollout;
  const wanted = wantedOf(deployment);
  const inUse = allSets(rollout).filter(isInUse);
  const allowed = wanted > 0 ? wanted + maxSurge(deployment) : 0;
  const toAdd = allowed - totalSize(inUse);
  // The largest set gets the rest of the rounding; of equal ones the newest when scaling up, the oldest when scaling
  // down.
  const ordered = [...inUse].sort(
    (a, b) => sizeOf(b) - sizeOf(a) || (toAdd > 0 ? byAge(b, a) : byAge(a, b)),
  );
  let added = 0;
  const sizes = ordered.map((set) => {
    const share = toAdd === 0 ? 0 : shareOf(set, deployment, toAdd, added);
    added += share;
    return sizeOf(set) + share;
  });
  return ordered.reduce((next, set, index) => {
    const rest = index === 0 ? toAdd - added : 0;
    return scaleTo(next, set, Math.max(0, (sizes[index] ?? 0) + rest));
  }, rollout);
}

function shareOf(set: ReplicaSet, deployment: Deployment, toAdd: number, added: number): number {
  const remaining = toAdd - added;
  const share = proportionalChange(set, deployment);
  return toAdd > 0 ? Math.min(share, remaining) : Math.max(share, remaining);
}

/** The change that keeps the set's share of the whole. */
function proportionalChange(set: ReplicaSet, deployment: Deployment): number {
  const wanted = wantedOf(deployment);
  const size = sizeOf(set);
  if (wanted === 0) return -size;
  const whole = numberIn(set, maxReplicasAnnotation) || (deployment.status.replicas ?? 0);
  if (whole === 0) return 0;
  return Math.round((size * (wanted + maxSurge(deployment))) / whole) - size;
}
