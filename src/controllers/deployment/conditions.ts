// Conditions of a deployment, with the reasons that `kubectl rollout status` and other tools wait for.
import type {
  Deployment,
  DeploymentCondition,
  DeploymentStatus,
} from '../../kinds/deployment/types.ts';
import { formatTime } from '../../schema/time.ts';
import { hasProgressDeadline } from './limits.ts';

export type ConditionType = 'Progressing' | 'Available' | 'ReplicaFailure';

export type Verdict = {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
};

export const reasons = {
  created: 'NewReplicaSetCreated',
  found: 'FoundNewReplicaSet',
  updated: 'ReplicaSetUpdated',
  complete: 'NewReplicaSetAvailable',
  timedOut: 'ProgressDeadlineExceeded',
  failed: 'FailedCreate',
  paused: 'DeploymentPaused',
  resumed: 'DeploymentResumed',
} as const;

type Conditions = readonly DeploymentCondition[];

export function conditionOf(
  { conditions }: DeploymentStatus,
  type: ConditionType,
): DeploymentCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** A condition with unchanged status and reason is not written again, even if its message differs. */
export function withCondition(conditions: Conditions, verdict: Verdict, now: number): Conditions {
  const before = conditions.find(({ type }) => type === verdict.type);
  if (before?.status === verdict.status && before.reason === verdict.reason) return conditions;
  const { type, status, reason, message } = verdict;
  const time = formatTime(now);
  const condition: DeploymentCondition = {
    type,
    status,
    lastUpdateTime: time,
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : time,
    reason,
    message,
  };
  return [...withoutCondition(conditions, type), condition];
}

export function withoutCondition(conditions: Conditions, type: ConditionType): Conditions {
  return conditions.filter((condition) => condition.type !== type);
}

export function setConditions(deployment: Deployment, conditions: Conditions): Deployment {
  if (conditions === (deployment.status.conditions ?? [])) return deployment;
  const { conditions: _, ...status } = deployment.status;
  return {
    ...deployment,
    status: { ...status, ...(conditions.length === 0 ? {} : { conditions }) },
  };
}

export function judge(deployment: Deployment, verdict: Verdict, now: number): Deployment {
  const before = deployment.status.conditions ?? [];
  const after = withCondition(before, verdict, now);
  return after === before ? deployment : setConditions(deployment, after);
}

/** Progress is not judged while the deployment is paused. An exceeded deadline stays in the status. */
export function judgePause(deployment: Deployment, now: number): Deployment {
  if (!hasProgressDeadline(deployment)) return deployment;
  const reason = conditionOf(deployment.status, 'Progressing')?.reason;
  if (reason === reasons.timedOut) return deployment;
  const verdict = { type: 'Progressing', status: 'Unknown' } as const;
  if (deployment.spec.paused === true && reason !== reasons.paused) {
    const message = 'Deployment is paused';
    return judge(deployment, { ...verdict, reason: reasons.paused, message }, now);
  }
  if (deployment.spec.paused !== true && reason === reasons.paused) {
    const message = 'Deployment is resumed';
    return judge(deployment, { ...verdict, reason: reasons.resumed, message }, now);
  }
  return deployment;
}
