// Which pods a budget protects.
import type { Pod } from '../pod/types.ts';

/** Pods that have ended, that have not started and that are on their way out disrupt nothing. */
export function needsNoBudget({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp !== undefined ||
    ['Succeeded', 'Failed', 'Pending'].includes(status.phase ?? '')
  );
}
