// What is true of a pod right now: one entry for each type, with the time at which its status last changed.
import type { PodCondition } from './pod-status.ts';

/** A condition without its times. */
export type PodVerdict = Omit<PodCondition, 'lastProbeTime' | 'lastTransitionTime'>;

type Conditions = readonly PodCondition[] | undefined;

/** The time of the last change stays while the status does, whatever the reason. */
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

/** In the place of what was said of the same type before. */
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

/** Patches merge conditions by type, field by field: what the condition no longer says has to be named. */
export function podConditionPatch(before: Conditions, after: PodCondition): object {
  const last = before?.find(({ type }) => type === after.type) ?? {};
  const dropped = Object.keys(last).filter((field) => !(field in after));
  return { ...after, ...Object.fromEntries(dropped.map((field) => [field, null])) };
}
