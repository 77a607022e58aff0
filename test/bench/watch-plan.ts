// What the watchers' worker is asked to do, and what it found.
import type { Protocol, Target } from './target.ts';

export type WatchPlan = {
  readonly target: Target;
  readonly protocol: Protocol;
  readonly watchers: number;
  readonly connections: number;
  /** Events whose way is timed, after some that are not. */
  readonly events: number;
  /** The service that is changed. */
  readonly service: number;
};

export type WatchResult = {
  /** From sending the write to each watcher's event, milliseconds. */
  readonly latencies: Float64Array;
};

/** Events before the timed ones, until the code is compiled. */
export const warmUpEvents = 10;
