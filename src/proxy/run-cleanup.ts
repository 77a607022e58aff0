// Removes what modes have left on the machine: those not in use after a switch, or all of them (KPX-52).
import type { Log } from '../observe/log.ts';
import type { Family } from './model/state.ts';
import type { Mode } from './modes/mode.ts';

/** Returns whether all went; what could not be removed is told, and the rest is removed all the same. */
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
        log.warn('rules of a mode could not be removed', {
          mode: mode.name,
          family,
          error: String(error),
        });
      }
    }
  }
  return isClean;
}
