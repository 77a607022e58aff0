// Which pods count for their owner.
import { isPodFinished } from './readiness.ts';
import type { Pod } from './types.ts';

/** Neither finished nor being deleted. */
export function isActive(pod: Pod): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp === undefined;
}

export function isTerminating(pod: Pod): boolean {
  return !isPodFinished(pod) && pod.metadata.deletionTimestamp !== undefined;
}
