// The status of a deployment. Upstream: syncRolloutStatus() and calculateStatus() in pkg/controller/deployment.
import type { Deployment, DeploymentStatus } from '../../kinds/deployment/types.ts';
import type { ReplicaSet } from '../../kinds/replica-set/types.ts';
import { parseTime } from '../../schema/time.ts';
import {
  conditionOf,
  judge,
  reasons,
  setConditions,
  withCondition,
  withoutCondition,
} from './conditions.ts';
import { hasProgressDeadline, maxUnavailable, totalSize, wantedOf } from './limits.ts';
import { allSets, type Rollout } from './rollout-state.ts';

/** Counts, and the condition Available. */
export function withCounts(rollout: Rollout, now: number): Deployment {
  const { deployment } = rollout;
  const all = allSets(rollout);
  const available = sum(all, 'availableReplicas');
  const isAvailable = available >= wantedOf(deployment) - maxUnavailable(deployment);
  const terminating = terminatingIn(all);
  const { collisionCount, conditions } = deployment.status;
  const status: DeploymentStatus = {
    ...known('observedGeneration', deployment.metadata.generation ?? 0),
    ...known('replicas', sum(all, 'replicas')),
    ...known(
      'updatedReplicas',
      rollout.current === undefined ? 0 : rollout.current.status.replicas,
    ),
    ...known('readyReplicas', sum(all, 'readyReplicas')),
    ...known('availableReplicas', available),
    ...known('unavailableReplicas', Math.max(0, totalSize(all) - available)),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating }),
    ...(conditions === undefined ? {} : { conditions }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
  };
  return judge({ ...deployment, status }, availability(isAvailable), now);
}

const availability = (isAvailable: boolean) =>
  isAvailable
    ? ({
        type: 'Available',
        status: 'True',
        reason: 'MinimumReplicasAvailable',
        message: 'Deployment has minimum availability.',
      } as const)
    : ({
        type: 'Available',
        status: 'False',
        reason: 'MinimumReplicasUnavailable',
        message: 'Deployment does not have minimum availability.',
      } as const);

type Count = 'replicas' | 'readyReplicas' | 'availableReplicas';

function sum(sets: readonly ReplicaSet[], field: Count): number {
  return sets.reduce((total, { status }) => total + (status[field] ?? 0), 0);
}

/** Unknown as long as one set does not report it. */
function terminatingIn(sets: readonly ReplicaSet[]): number | undefined {
  let total = 0;
  for (const { status } of sets) {
    if (status.terminatingReplicas === undefined) return undefined;
    total += status.terminatingReplicas;
  }
  return total;
}

function known<K extends keyof DeploymentStatus>(
  name: K,
  value: number,
): Partial<DeploymentStatus> {
  return value === 0 ? {} : { [name]: value };
}

/** Counts, and the condition Progressing. */
export function withProgress(rollout: Rollout, now: number): Deployment {
  const before = rollout.deployment;
  const counted = withCounts(rollout, now);
  const judged = judgeFailures(judgeProgress(rollout, counted, now), rollout, now);
  if (hasProgressDeadline(before)) return judged;
  return setConditions(judged, withoutCondition(judged.status.conditions ?? [], 'Progressing'));
}

function judgeProgress(rollout: Rollout, counted: Deployment, now: number): Deployment {
  const { deployment: before, current } = rollout;
  const progressing = conditionOf(before.status, 'Progressing');
  const { replicas = 0, updatedReplicas = 0 } = counted.status;
  const wasComplete = replicas === updatedReplicas && progressing?.reason === reasons.complete;
  if (!hasProgressDeadline(before) || wasComplete) return counted;
  const subject =
    current === undefined
      ? `Deployment "${before.metadata.name}"`
      : `ReplicaSet "${current.metadata.name}"`;
  if (isComplete(counted)) {
    const message = `${subject} has successfully progressed.`;
    return judge(
      counted,
      { type: 'Progressing', status: 'True', reason: reasons.complete, message },
      now,
    );
  }
  if (hasProgressed(before.status, counted.status)) {
    return restartDeadline(counted, `${subject} is progressing.`, now);
  }
  if (!isTimedOut(counted, now)) return counted;
  const message = `${subject} has timed out progressing.`;
  return judge(
    counted,
    { type: 'Progressing', status: 'False', reason: reasons.timedOut, message },
    now,
  );
}

/** Each progress updates the condition, because the deadline counts from the last update. */
function restartDeadline(deployment: Deployment, message: string, now: number): Deployment {
  const conditions = deployment.status.conditions ?? [];
  const before = conditionOf(deployment.status, 'Progressing');
  const verdict = {
    type: 'Progressing',
    status: 'True',
    reason: reasons.updated,
    message,
  } as const;
  const renewed = withCondition(withoutCondition(conditions, 'Progressing'), verdict, now).map(
    (condition) =>
      condition.type === 'Progressing' && before?.status === 'True'
        ? { ...condition, lastTransitionTime: before.lastTransitionTime }
        : condition,
  );
  return setConditions(deployment, renewed);
}

export function isComplete({ spec, status, metadata }: Deployment): boolean {
  const wanted = spec.replicas ?? 1;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  return (
    updatedReplicas === wanted &&
    replicas === wanted &&
    availableReplicas === wanted &&
    (status.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  );
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const outdated = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number =>
    replicas - updatedReplicas;
  const grew = (name: 'updatedReplicas' | 'readyReplicas' | 'availableReplicas'): boolean =>
    (after[name] ?? 0) > (before[name] ?? 0);
  return (
    grew('updatedReplicas') ||
    outdated(after) < outdated(before) ||
    grew('readyReplicas') ||
    grew('availableReplicas')
  );
}

function isTimedOut(deployment: Deployment, now: number): boolean {
  const progressing = conditionOf(deployment.status, 'Progressing');
  if (progressing === undefined || progressing.reason === reasons.complete) return false;
  return progressing.reason === reasons.timedOut || deadlineOf(deployment, now) < now;
}

function deadlineOf({ spec, status }: Deployment, now: number): number {
  const since = conditionOf(status, 'Progressing')?.lastUpdateTime;
  const from = since ? (parseTime(since) ?? now) : now;
  return from + (spec.progressDeadlineSeconds ?? 0) * 1000;
}

/** When the progress deadline is due, if nothing changes before. */
export function deadlineWaitMs(deployment: Deployment, now: number): number | undefined {
  const progressing = conditionOf(deployment.status, 'Progressing');
  if (!hasProgressDeadline(deployment) || progressing === undefined) return undefined;
  if (isComplete(deployment) || progressing.reason === reasons.timedOut) return undefined;
  // Times in the status have whole seconds.
  return Math.max(0, deadlineOf(deployment, now) - now) + 1000;
}

/** Copies the condition ReplicaFailure from the replica sets, the current one first. */
function judgeFailures(deployment: Deployment, rollout: Rollout, now: number): Deployment {
  const conditions = deployment.status.conditions ?? [];
  const failure = [rollout.current, ...allSets(rollout)]
    .flatMap((set) => set?.status.conditions ?? [])
    .find(({ type }) => type === 'ReplicaFailure');
  if (failure === undefined) {
    return setConditions(deployment, withoutCondition(conditions, 'ReplicaFailure'));
  }
  const { status, reason = '', message = '' } = failure;
  const verdict = { type: 'ReplicaFailure', status: status as 'True', reason, message } as const;
  return judge(deployment, verdict, now);
}
