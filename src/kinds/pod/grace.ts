import type { DeleteRequest } from '../definition.ts';
import { isPodFinished } from './readiness.ts';
import type { Pod } from './types.ts';

/** The grace period of a deletion in seconds: 0 when no kubelet has to terminate the pod. */
export function podGraceSeconds(pod: Pod, request: DeleteRequest): number {
  if (!pod.spec.nodeName || isPodFinished(pod)) return 0;
  const seconds = request.gracePeriodSeconds ?? pod.spec.terminationGracePeriodSeconds ?? 0;
  return seconds < 0 ? 1 : seconds;
}
