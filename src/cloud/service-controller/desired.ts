// What has to be done about the balancer of a Service: nothing, make it fit, or take it away.
import type { Service } from '../../kinds/service/types.ts';

export const cleanupFinalizer = 'service.kubernetes.io/load-balancer-cleanup';

export type Step = 'nothing' | 'ensure' | 'remove';

/** LBC-01: a Service that names a class has somebody else to look after it. */
export function wantsBalancer({ spec }: Service, ownClass?: string): boolean {
  return spec.type === 'LoadBalancer' && (spec.loadBalancerClass ?? undefined) === ownClass;
}

/** All controllers use one finalizer: of a balancer of another class it is theirs, and so is the status. */
export function isOfOthers(service: Service, ownClass?: string): boolean {
  return service.spec.type === 'LoadBalancer' && !wantsBalancer(service, ownClass);
}

export function hasCleanupFinalizer({ metadata }: Service): boolean {
  return metadata.finalizers?.includes(cleanupFinalizer) ?? false;
}

/**
 * LBC-03 to LBC-05. The finalizer is what says that there may be a balancer: it is there before the first call to the provider and
 * goes after the last, so a crash anywhere between leaves nothing behind.
 */
export function nextStep(service: Service, ownClass?: string): Step {
  if (isOfOthers(service, ownClass)) return 'nothing';
  const isGoing = service.metadata.deletionTimestamp !== undefined;
  if (!isGoing && wantsBalancer(service, ownClass)) return 'ensure';
  return hasCleanupFinalizer(service) ? 'remove' : 'nothing';
}
