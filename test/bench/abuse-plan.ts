// A thousand clients, of which some do harm: who does what, as plain data for the process that does it.
import type { Target } from './target.ts';

export type AbusePlan = {
  readonly target: Target;
  /** Get a service now and then, and time it. */
  readonly good: number;
  /** Ask for large lists, more than once at a time, and read a little of them now and then. */
  readonly slow: number;
  /** Send what is no request, or a bad one. */
  readonly garbage: number;
  readonly services: number;
  /** Between two requests of one good client. */
  readonly goodPauseMs: number;
};

/** Of one stretch of work. */
export type AbuseResult = {
  /** Of the good clients' answers, in milliseconds. */
  readonly latencies: Float64Array;
  /** Good requests that were not answered 200. */
  readonly failures: number;
  /** That bad clients opened. */
  readonly connections: number;
  /** Of garbage. */
  readonly pieces: number;
};

/** Between two pieces of garbage of one client. */
export const garbagePauseMs = 500;
/** Between two sips of a slow reader. */
export const sipPauseMs = 100;
/** What a slow reader takes at a time. */
export const sipBytes = 4096;
/** Lists that a slow reader asks for at once. */
export const pipelined = 20;
