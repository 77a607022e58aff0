// Looks, changes and looks again until nothing differs.
import { type Clock, sleep } from '../../../host/clock.ts';
import { RetryLaterError } from '../../provider.ts';
import { applyChanges } from './apply.ts';
import type { AwsCalls } from './apply-sdk.ts';
import type { Change } from './changes.ts';
import type { Settling } from './run-settling.ts';

export type ConvergeOptions = {
  readonly aws: AwsCalls;
  readonly clock: Clock;
  readonly settling: Settling;
  /** AWS may take so long to show a write. */
  readonly settleMs: number;
  /** Whose writes these are. */
  readonly key: string;
  readonly look: () => Promise<readonly Change[]>;
  readonly signal: AbortSignal;
};

/** A balancer takes four; what needs more does not converge. */
const maxRounds = 30;
/** So often is looked again while AWS does not show a write, with growing pauses. */
const firstPauseShare = 1 / 64;

export async function converge(options: ConvergeOptions): Promise<void> {
  const { aws, clock, settling, settleMs, key, look, signal } = options;
  let before = '';
  let skipped: readonly string[] = [];
  let pauseMs = settleMs * firstPauseShare;
  let waitedMs = 0;
  for (let round = 0; round < maxRounds; round += 1) {
    const changes = await look();
    if (changes.length === 0) return;
    const text = JSON.stringify(changes);
    const isSame = text === before;
    if (isSame && waitedMs >= settleMs) break;
    if (isSame) {
      await sleep(clock, pauseMs, signal);
      signal.throwIfAborted();
      waitedMs += pauseMs;
      pauseMs *= 2;
    }
    // What was done and is not shown is not done again; what could not be done is tried again.
    if (isSame && skipped.length === 0) continue;
    skipped = await settling.write(key, () => applyChanges(aws, changes));
    if (isSame) continue;
    before = text;
    waitedMs = 0;
    pauseMs = settleMs * firstPauseShare;
  }
  const why = skipped.length === 0 ? '' : ` (${skipped.join(', ')})`;
  throw new RetryLaterError(`AWS does not show the changes yet${why}`, settleMs);
}
