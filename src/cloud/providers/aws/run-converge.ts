// Repeats probe, diff and apply until nothing differs.
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
  /** How long AWS may take to show a write. */
  readonly settleMs: number;
  /** Whose writes these are. */
  readonly key: string;
  readonly plan: () => Promise<readonly Change[]>;
  readonly signal: AbortSignal;
};

/** A balancer takes four; what needs more does not converge. */
const maxRounds = 30;
/** So often is looked again while AWS does not show a write, with growing pauses. */
const firstPauseShare = 1 / 64;

export async function converge(options: ConvergeOptions): Promise<void> {
  const { aws, clock, settling, settleMs, key, plan, signal } = options;
  let before = '';
  let skipped: readonly string[] = [];
  let pauseMs = settleMs * firstPauseShare;
  let waitedMs = 0;
  for (let round = 0; round < maxRounds; round += 1) {
    const changes = await plan();
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
    // Do not repeat writes that are not visible yet; retry those that failed.
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
