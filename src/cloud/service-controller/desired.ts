// Decides the next step for a Service: ensure its load balancer, delete it, or nothing.
import type { Service } from '../../kinds/service/types.ts';

export const cleanupFinalizer = 'service.kubernetes.io/load-balancer-cleanup';

export type Step = 'nothing' | 'ensure' | 'remove';

/** A Service with a loadBalancerClass is handled by the controller of that class (LBC-01). */
export function wantsBalancer({ spec }: Service, ownClass?: string): boolean {
  return spec.type === 'LoadBalancer' && (spec.loadBalancerClass ?? undefined) === ownClass;
}

/** All controllers share one finalizer: with another class, finalizer and status belong to its controller. */
export function isOfOthers(service: Service, ownClass?: string): boolean {
  return service.spec.type === 'LoadBalancer' && !wantsBalancer(service, ownClass);
}

export function hasCleanupFinalizer({ metadata }: Service): boolean {
  return metadata.finalizers?.includes(cleanupFinalizer) ?? false;
}

/**
 * The finalizer marks that there may be a load balancer: it is added before the first call to the provider and removed after the last,
 * so a crash in between leaves nothing behind (LBC-03 to LBC-05).
 */
export function nextStep(service: Service, ownClass?: string): Step {
  if (isOfOthers(service, ownClass)) return 'nothing';
  const isGoing = service.metadata.deletionTimestamp !== undefined;
  if (!isGoing && wantsBalancer(service, ownClass)) return 'ensure';
  return hasCleanupFinalizer(service) ? 'remove' : 'nothing';
}
