// Limits how fast one connection starts requests over HTTP/2. A thousand of them fit into one packet, and Node.js emits
// them in one iteration of the event loop: starting all of them at once would delay other clients, and a client that resets
// each one makes the server work for nothing (rapid reset, CVE-2023-44487). Beyond a few in one iteration, requests are
// queued; those that are reset in the queue never start, and a connection with too many resets is closed.

/** The state of one connection. */
export type StreamBurst = {
  /** Requests that started in `iteration`. */
  count: number;
  iteration: number;
  /** A token bucket: resets until it is too many. */
  remainingResets: number;
  resetMs: number;
};

/** Resets of unanswered requests in one burst, as when a program is stopped. Watches count as answered. */
export const maxResets = 200;
/** A higher rate is an attack: no client keeps cancelling that many requests. */
const resetsPerSecond = 50;

/** For one connection in one iteration: more than well-behaved clients have in flight. */
export const maxBurst = 32;
/** Queued requests that start in one iteration. */
const maxFromQueue = 8;

export function createStreamBurst(nowMs: number): StreamBurst {
  return { count: 0, iteration: 0, remainingResets: maxResets, resetMs: nowMs };
}

/** Counts a reset; true when it is one too many. */
export function isResetTooMany(burst: StreamBurst, nowMs: number): boolean {
  const regained = ((nowMs - burst.resetMs) / 1000) * resetsPerSecond;
  burst.remainingResets = Math.min(maxResets, burst.remainingResets + regained) - 1;
  burst.resetMs = nowMs;
  return burst.remainingResets < 0;
}

export type StreamPacer = {
  /** Whether a request of this connection may start at once. */
  readonly startsNow: (burst: StreamBurst) => boolean;
  /** Calls `begin` in a later iteration, first in, first out; it returns false when the request was reset. */
  readonly queue: (begin: () => boolean) => void;
};

export function createStreamPacer(): StreamPacer {
  let queued: (() => boolean)[] = [];
  let next = 0;
  let iteration = 0;
  let isScheduled = false;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(beginSome);
  };

  function beginSome(): void {
    isScheduled = false;
    iteration += 1;
    for (let begun = 0; begun < maxFromQueue && next < queued.length; next += 1) {
      if (queued[next]?.()) begun += 1;
    }
    if (next < queued.length) {
      schedule();
    } else if (queued.length > 0) {
      queued = [];
      next = 0;
    }
  }

  return {
    startsNow(burst) {
      if (burst.iteration !== iteration) {
        burst.iteration = iteration;
        burst.count = 0;
      }
      burst.count += 1;
      schedule();
      return burst.count <= maxBurst;
    },
    queue(begin) {
      queued.push(begin);
      schedule();
    },
  };
}
