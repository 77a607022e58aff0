import { readyCondition, type ServiceCIDR } from './types.ts';

/**
 * Whether addresses may be allocated from the range. A range without condition counts as ready, so that Services work
 * without the controller; one that is being deleted does not.
 */
export function isReady({ metadata, status }: ServiceCIDR): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const ready = status.conditions?.find((condition) => condition.type === readyCondition);
  return ready === undefined || ready.status === 'True';
}
