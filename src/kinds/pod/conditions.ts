// Pod conditions: one for each type, with the time of the last change of status.
import type { PodCondition } from './pod-status.ts';

/** A condition without times. */
export type PodVerdict = Omit<PodCondition, 'lastProbeTime' | 'lastTransitionTime'>;

type Conditions = readonly PodCondition[] | undefined;

/** lastTransitionTime changes only with the status. */
export function judgedPodCondition(
  before: Conditions,
  { type, observedGeneration, status, reason, message }: PodVerdict,
  now: string,
): PodCondition {
  const last = before?.find((condition) => condition.type === type);
  return {
    type,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    status,
    lastProbeTime: null,
    lastTransitionTime: last?.status === status ? (last.lastTransitionTime ?? now) : now,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

/** Replaces the condition of the same type. */
export function withPodCondition(
  before: Conditions,
  verdict: PodVerdict,
  now: string,
): readonly PodCondition[] {
  const conditions = before ?? [];
  const index = conditions.findIndex(({ type }) => type === verdict.type);
  const condition = judgedPodCondition(conditions, verdict, now);
  return index === -1 ? [...conditions, condition] : conditions.with(index, condition);
}

/** Strategic merge patches merge conditions by type and field: removed fields must be listed as null. */
export function podConditionPatch(before: Conditions, after: PodCondition): object {
  const last = before?.find(({ type }) => type === after.type) ?? {};
  const dropped = Object.keys(last).filter((field) => !(field in after));
  return { ...after, ...Object.fromEntries(dropped.map((field) => [field, null])) };
}
