// How often the state is read: each time costs the server a question to every part.
import type { PropagationState } from './propagation.ts';

export type Pace = {
  readonly state: PropagationState;
  /** Of the last answer. */
  readonly tookMs: number;
};

const movingMs = 500;
const restingMs = 2000;
/** The server spends at most this share of its time on one watcher. */
const maxShare = 0.2;

export function pauseAfter({ state, tookMs }: Pace): number {
  const pauseMs = state === 'behind' ? movingMs : restingMs;
  return Math.max(pauseMs, tookMs / maxShare);
}
