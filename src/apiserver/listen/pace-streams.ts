// How fast one connection begins requests over HTTP/2. A thousand of them fit into one packet, and Node hands them over in one
// go: to answer them all at once would hold up everybody else, and a client that resets each one has the server work for
// nothing (CVE-2023-44487). Beyond a few in one iteration of the event loop requests are queued, those that were reset meanwhile
// are never begun, and a connection with too many resets is closed.

/** Of one connection. */
export type StreamBurst = {
  /** Requests that began at once in `iteration`. */
  count: number;
  iteration: number;
  /** Resets that are left before it is too many; grows with time. */
  resetsLeft: number;
  resetMs: number;
};

/** Resets before the answer that a client may send at once, as when a program is stopped. Watches have their answer. */
export const maxResets = 200;
/** A client that gives up this often all the time asks for what it does not want. */
const resetsPerSecond = 50;

/** Of one connection in one iteration: what clients have under way, but for floods. */
export const maxBurst = 32;
/** Queued requests that begin in one iteration. */
const maxFromQueue = 8;

export function createStreamBurst(nowMs: number): StreamBurst {
  return { count: 0, iteration: 0, resetsLeft: maxResets, resetMs: nowMs };
}

/** Counts a reset; true when it is one too many. */
export function isResetTooMany(burst: StreamBurst, nowMs: number): boolean {
  const regained = ((nowMs - burst.resetMs) / 1000) * resetsPerSecond;
  burst.resetsLeft = Math.min(maxResets, burst.resetsLeft + regained) - 1;
  burst.resetMs = nowMs;
  return burst.resetsLeft < 0;
}

export type StreamPacer = {
  /** Whether a request of this connection may begin at once. */
  readonly beginsNow: (burst: StreamBurst) => boolean;
  /** Calls `begin` in a later iteration, in the order in which they came; it says whether it had anything to do. */
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
    beginsNow(burst) {
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
