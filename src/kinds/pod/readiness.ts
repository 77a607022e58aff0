// Readiness of pods, for controllers, proxies and tables.
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
