// What the simulated nodes' worker is asked to do, and what it found.
import type { Target } from './target.ts';

export type NodesPlan = {
  readonly target: Target;
  readonly nodes: number;
  /** Changes whose way is timed, after some that are not. */
  readonly changes: number;
  readonly warmUp: number;
};

export type NodesSynced = { readonly seconds: number };

export type NodesResult = {
  /** From sending the change to each node's own copy showing it, milliseconds. */
  readonly latencies: Float64Array;
  /** From sending the change until the last node shows it. */
  readonly toAll: Float64Array;
};
