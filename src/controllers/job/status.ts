// The status of a job: conditions, and the form in which it is compared and stored.
import type { JobConditionType } from '../../kinds/job/conditions.ts';
import type { JobCondition, JobStatus } from '../../kinds/job/types.ts';
import type { Verdict } from './verdict.ts';

export type ConditionVerdict = {
  readonly type: JobConditionType;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
};

/** The same list when nothing changes; a condition that was never there does not become False. */
export function withJobCondition(
  conditions: readonly JobCondition[],
  { type, status, reason, message }: ConditionVerdict,
  now: string,
): readonly JobCondition[] {
  const index = conditions.findIndex((one) => one.type === type);
  const before = conditions[index];
  const condition: JobCondition = {
    type,
    status,
    lastProbeTime: now,
    lastTransitionTime: now,
    reason,
    message,
  };
  if (before === undefined) return status === 'False' ? conditions : [...conditions, condition];
  const isSame = before.status === status && before.reason === reason && before.message === message;
  return isSame ? conditions : conditions.with(index, condition);
}

/** The condition that announces the end, and stays, as upstream's. */
export function withInterimCondition(
  conditions: readonly JobCondition[],
  verdict: Verdict | undefined,
  now: string,
): readonly JobCondition[] {
  const isInterim = verdict?.type === 'FailureTarget' || verdict?.type === 'SuccessCriteriaMet';
  return isInterim ? withJobCondition(conditions, { ...verdict, status: 'True' }, now) : conditions;
}

/** What the announced end becomes when all pods have ended. */
export function finalVerdict(verdict: Verdict): Verdict {
  switch (verdict.type) {
    case 'FailureTarget':
      return { ...verdict, type: 'Failed' };
    case 'SuccessCriteriaMet':
      return { ...verdict, type: 'Complete' };
    default:
      return verdict;
  }
}

/** The end of the job; undefined while pods are still to be counted or on their way out. */
export function endedStatus(
  status: JobStatus,
  verdict: Verdict,
  now: string,
): JobStatus | undefined {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  if (succeeded.length + failed.length + (status.terminating ?? 0) > 0) return undefined;
  return {
    ...status,
    conditions: withJobCondition(status.conditions ?? [], { ...verdict, status: 'True' }, now),
    ...(verdict.type === 'Complete' ? { completionTime: now } : {}),
  };
}

/** As the server stores it: zeros and empty values are left out. */
export function storedForm(status: JobStatus): JobStatus {
  const { active, succeeded, failed, completedIndexes, conditions, ...rest } = status;
  return {
    ...rest,
    ...(conditions === undefined || conditions.length === 0 ? {} : { conditions }),
    ...(active ? { active } : {}),
    ...(succeeded ? { succeeded } : {}),
    ...(failed ? { failed } : {}),
    ...(completedIndexes ? { completedIndexes } : {}),
  };
}
