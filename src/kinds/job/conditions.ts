// Conditions of jobs, for controllers, validation and tables.
import type { Job, JobCondition } from './types.ts';

export type JobConditionType =
  | 'Suspended'
  | 'Complete'
  | 'Failed'
  | 'FailureTarget'
  | 'SuccessCriteriaMet';

type HasConditions = Pick<Job, 'status'>;

export function jobCondition(
  { status }: HasConditions,
  type: JobConditionType,
): JobCondition | undefined {
  return status.conditions?.find((condition) => condition.type === type);
}

export function hasJobCondition(job: HasConditions, type: JobConditionType): boolean {
  return jobCondition(job, type)?.status === 'True';
}

export function isJobFinished(job: HasConditions): boolean {
  return hasJobCondition(job, 'Complete') || hasJobCondition(job, 'Failed');
}

export const isIndexedJob = ({ spec }: Pick<Job, 'spec'>): boolean =>
  spec.completionMode === 'Indexed';
