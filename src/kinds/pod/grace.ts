import type { DeleteRequest } from '../definition.ts';
import { isPodFinished } from './readiness.ts';
import type { Pod } from './types.ts';

/** Seconds that a pod gets for an orderly end: none where no node has to end anything. */
export function podGraceSeconds(pod: Pod, wish: DeleteRequest): number {
  if (!pod.spec.nodeName || isPodFinished(pod)) return 0;
  const seconds = wish.gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}
