// Who may come in: reads and writes have seats of their own, shared fairly between users; some need none.
import { mastersGroup } from '../access/known-users.ts';
import type { User } from '../access/user.ts';
import type { FlowMetrics, Level } from '../metrics.ts';
import type { RequestInfo } from '../request/request-info.ts';
import { createFairQueue, type FairQueue, type Flow } from './fair-queue.ts';
import type { Limits } from './limits.ts';
import { createStreamCount, type StreamCount } from './stream-count.ts';

export type Seats = { readonly level: Level; readonly queue: FairQueue };

export type Gate = {
  /** Undefined for those who need no seat. */
  readonly seatsFor: (user: User, info: RequestInfo, isMutating: boolean) => Seats | undefined;
  /** Of requests that are costly one is worked on in each turn of the event loop: what is cheap comes between. */
  readonly costlyTurn: (user: User, departed: () => AbortSignal) => Promise<unknown> | undefined;
  readonly watches: StreamCount;
  readonly metrics: FlowMetrics;
};

export function createGate(limits: Limits, metrics: FlowMetrics): Gate {
  const seats = (level: Level, count: number): Seats => ({
    level,
    queue: createFairQueue({
      seats: count,
      queueLength: limits.maxQueuedRequestsPerUser,
      waitMs: limits.queueWaitMs,
      onQueued: (change) => metrics.queued(level, change),
    }),
  });
  const readOnly = seats('readOnly', limits.maxRequestsInFlight);
  const mutating = seats('mutating', limits.maxMutatingRequestsInFlight);
  const costly = createFairQueue({
    seats: 1,
    // Who is here has a seat already, and those are counted.
    queueLength: Number.POSITIVE_INFINITY,
    waitMs: limits.queueWaitMs,
  });
  const passOn = (flow: Flow): void => void setImmediate(costly.leave, flow);
  return {
    costlyTurn({ name }, departed) {
      const turn = costly.enter(name, departed);
      if (turn instanceof Promise) return turn.then(passOn);
      passOn(turn);
      return undefined;
    },
    seatsFor(user, info, isMutating) {
      if (isExempt(user, info)) return undefined;
      return isMutating ? mutating : readOnly;
    },
    watches: createStreamCount(limits.maxWatchesPerUser),
    metrics,
  };
}

/** Administrators must get in to repair what is broken, and probes must not take a busy server for a dead one. */
function isExempt({ groups }: User, info: RequestInfo): boolean {
  if (groups.includes(mastersGroup)) return true;
  return info.kind === 'path' ? isHealth(info.path) : isLongRunning(info) && info.verb !== 'watch';
}

const costlyVerbs = new Set(['list', 'watch', 'deletecollection']);

/** What it costs grows with the number of objects there are. */
export function isCostly(info: RequestInfo): boolean {
  return info.kind === 'resource' && costlyVerbs.has(info.verb);
}

const isHealth = (path: string): boolean => /^\/(healthz|livez|readyz)(\/|$)/.test(path);

const streamed = new Set(['proxy', 'log', 'exec', 'attach', 'portforward']);

/** Goes on for as long as the client likes. Of a watch, only its start is work. */
export function isLongRunning(info: RequestInfo): boolean {
  if (info.kind === 'path') return false;
  return info.verb === 'watch' || info.verb === 'proxy' || streamed.has(info.subresource);
}
