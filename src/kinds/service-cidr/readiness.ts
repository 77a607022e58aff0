import { readyCondition, type ServiceCIDR } from './types.ts';

/**
 * Whether addresses may be taken from the range. One that nobody has judged yet counts as ready, so that
 * services work without a controller; one that is going gives nothing more.
 */
export function isReady({ metadata, status }: ServiceCIDR): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  const ready = status.conditions?.find((condition) => condition.type === readyCondition);
  return ready === undefined || ready.status === 'True';
}
