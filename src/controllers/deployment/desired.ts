// Plans the next changes of a deployment: of its replica sets, and of its status. Upstream: syncDeployment() in
// pkg/controller/deployment.
import type { Deployment } from '../../kinds/deployment/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ReplicaSet } from '../../kinds/replica-set/types.ts';
import { deepEqual } from '../../schema/equality.ts';
import { revisionAnnotation, revisionOf } from './annotations.ts';
import { judge, judgePause, reasons } from './conditions.ts';
import { reviseCurrent } from './current-set.ts';
import { hasProgressDeadline, historyLimit, isRolling, sizeOf } from './limits.ts';
import { recreate, rollingUpdate } from './rolling-update.ts';
import { type Rollout, type SetChange, startRollout } from './rollout-state.ts';
import { isToBeScaled, scale } from './scale.ts';
import { deadlineWaitMs, isComplete, withCounts, withProgress } from './status.ts';

export type DeploymentSituation = {
  readonly deployment: Deployment;
  readonly replicaSets: readonly ReplicaSet[];
  /** The pods of all its replica sets. */
  readonly pods: readonly Pod[];
  readonly now: number;
};

export type DeploymentPlan = {
  /** To be carried out in this order. */
  readonly changes: readonly SetChange[];
  /** Old replica sets beyond the revision history limit. */
  readonly remove: readonly ReplicaSet[];
  /** With the new status and revision; absent when both are up to date. */
  readonly deployment?: Deployment;
  /** When to sync again even if nothing changes. */
  readonly retryAfterMs?: number;
};

export function planDeployment(situation: DeploymentSituation): DeploymentPlan {
  const { deployment, replicaSets, pods, now } = situation;
  const start = startRollout(deployment, replicaSets);
  if (deployment.metadata.deletionTimestamp !== undefined) {
    return finish(situation, start, withCounts(start, now), []);
  }
  const judged = { ...start, deployment: judgePause(deployment, now) };
  const revised = reviseCurrent(judged, now);
  if (deployment.spec.paused === true || isToBeScaled(revised)) {
    const scaled = scale(revised);
    const remove = deployment.spec.paused === true ? surplusHistory(scaled) : [];
    return finish(situation, scaled, withCounts(scaled, now), remove);
  }
  const { rollout, isSettled } = isRolling(deployment)
    ? rollingUpdate(revised, now)
    : recreate(revised, pods, now);
  const remove = isSettled && isComplete(deployment) ? surplusHistory(rollout) : [];
  return finish(situation, rollout, withProgress(rollout, now), remove);
}

function finish(
  { deployment: before, now }: DeploymentSituation,
  { changes }: Rollout,
  after: Deployment,
  remove: readonly ReplicaSet[],
): DeploymentPlan {
  const wait = deadlineWaitMs(after, now);
  const isSame =
    deepEqual(before.status, after.status) && revisionText(before) === revisionText(after);
  return {
    changes,
    remove,
    ...(isSame ? {} : { deployment: after }),
    ...(wait === undefined || after.spec.paused === true ? {} : { retryAfterMs: wait }),
  };
}

const revisionText = ({ metadata }: Deployment): string | undefined =>
  metadata.annotations?.[revisionAnnotation];

/** The oldest revisions beyond the limit that have no pods left. */
function surplusHistory({ deployment, old }: Rollout): readonly ReplicaSet[] {
  const limit = historyLimit(deployment);
  if (limit === undefined) return [];
  const active = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return [...active]
    .sort((a, b) => revisionOf(a) - revisionOf(b))
    .slice(0, Math.max(0, active.length - limit))
    .filter(isEmpty);
}

function isEmpty(set: ReplicaSet): boolean {
  const { status, metadata } = set;
  return (
    sizeOf(set) === 0 &&
    status.replicas === 0 &&
    (metadata.generation ?? 0) <= (status.observedGeneration ?? 0)
  );
}

/** Creating the new replica set failed. */
export function withFailedCreate(
  deployment: Deployment,
  replicaSet: ReplicaSet,
  error: string,
  now: number,
): { readonly deployment: Deployment; readonly message: string } {
  const message = `Failed to create new replica set "${replicaSet.metadata.name}": ${error}`;
  if (!hasProgressDeadline(deployment)) return { deployment, message };
  const verdict = {
    type: 'Progressing',
    status: 'False',
    reason: reasons.failed,
    message,
  } as const;
  return { deployment: judge(deployment, verdict, now), message };
}

/** A set of another template has the name: the collision count makes the next hash a different one. */
export function withCollision(deployment: Deployment): Deployment {
  const { collisionCount = 0 } = deployment.status;
  return { ...deployment, status: { ...deployment.status, collisionCount: collisionCount + 1 } };
}
