// Removes rules of modes from the machine: of those not in use, or of all (KPX-52).
import type { Log } from '../observe/log.ts';
import type { Family } from './model/state.ts';
import type { Mode } from './modes/mode.ts';

/** Returns whether all rules were removed. Failures are logged, and do not stop the rest. */
export async function cleanUpModes(
  modes: readonly Mode[],
  families: readonly Family[],
  log: Log,
): Promise<boolean> {
  let isClean = true;
  for (const mode of modes) {
    for (const family of families) {
      try {
        await mode.cleanup(family);
      } catch (error) {
        isClean = false;
        log.warn('Failed to remove rules of proxy mode', {
          mode: mode.name,
          family,
          error: String(error),
        });
      }
    }
  }
  return isClean;
}
