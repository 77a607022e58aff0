// Carries changes out, in their order.
import { applyClassicChange, isClassicChange } from './apply-classic.ts';
import { applyGroupChange } from './apply-groups.ts';
import { applyNetworkChange, isNetworkChange } from './apply-network.ts';
import type { AwsCalls } from './apply-sdk.ts';
import type { Change } from './changes.ts';
import { codeOf, isAlready, isGone, isHeld } from './errors.ts';

/**
 * Returns what could not be done now: it is there already, gone, or held by something that goes. All of it is seen when
 * one looks again.
 */
export async function applyChanges(
  aws: AwsCalls,
  changes: readonly Change[],
): Promise<readonly string[]> {
  const skipped: string[] = [];
  for (const change of changes) {
    try {
      await applyChange(aws, change);
    } catch (error) {
      if (!isAlready(error) && !isGone(error) && !isHeld(error)) throw error;
      skipped.push(`${change.kind}: ${codeOf(error)}`);
    }
  }
  return skipped;
}

function applyChange(aws: AwsCalls, change: Change): Promise<void> {
  if (isClassicChange(change)) return applyClassicChange(aws, change);
  if (isNetworkChange(change)) return applyNetworkChange(aws, change);
  return applyGroupChange(aws, change);
}
