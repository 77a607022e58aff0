// Readiness of pods, for controllers, proxies and tables.
import { parseTime } from '../../schema/time.ts';
import type { PodCondition, PodStatus } from './pod-status.ts';

type HasStatus = { readonly status: PodStatus };

export function podCondition(pod: HasStatus, type: string): PodCondition | undefined {
  return pod.status.conditions?.find((condition) => condition.type === type);
}

export function isPodReady(pod: HasStatus): boolean {
  return podCondition(pod, 'Ready')?.status === 'True';
}

/** Succeeded and failed pods never run again. */
export function isPodFinished(pod: HasStatus): boolean {
  return pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed';
}

/** Milliseconds until minReadySeconds have passed; undefined while the pod is not ready. */
export function availableIn(
  pod: HasStatus,
  minReadySeconds: number,
  now: number,
): number | undefined {
  if (!isPodReady(pod)) return undefined;
  if (minReadySeconds === 0) return 0;
  const since = podCondition(pod, 'Ready')?.lastTransitionTime;
  const from = since ? parseTime(since) : undefined;
  return from === undefined ? undefined : Math.max(0, from + minReadySeconds * 1000 - now);
}
