// Priority and fairness: reads and writes have seats of their own, shared fairly between users; some requests are exempt.
import { partsGroup } from '../../kinds/part/names.ts';
import { mastersGroup } from '../access/known-users.ts';
import type { User } from '../access/user.ts';
import type { FlowMetrics, Level } from '../metrics.ts';
import type { RequestInfo } from '../request/request-info.ts';
import { createFairQueue, type FairQueue, type Flow } from './fair-queue.ts';
import type { Limits } from './limits.ts';
import { createStreamCount, type StreamCount } from './stream-count.ts';

export type Seats = { readonly level: Level; readonly queue: FairQueue };

export type Gate = {
  /** Undefined for a request that is exempt. */
  readonly seatsFor: (user: User, info: RequestInfo, isMutating: boolean) => Seats | undefined;
  /** One costly request runs in each iteration of the event loop, so that cheap ones run in between. */
  readonly waitForCostlySlot: (
    user: User,
    signal: () => AbortSignal,
  ) => Promise<unknown> | undefined;
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
    // A request that comes here has a seat already, and seats are limited.
    queueLength: Number.POSITIVE_INFINITY,
    waitMs: limits.queueWaitMs,
  });
  const releaseInNextIteration = (flow: Flow): void => void setImmediate(costly.release, flow);
  return {
    waitForCostlySlot({ name }, signal) {
      const slot = costly.acquire(name, signal);
      if (slot instanceof Promise) return slot.then(releaseInNextIteration);
      releaseInNextIteration(slot);
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

/** Administrators must be able to repair the cluster, and probes must not take a busy server for a dead one. */
function isExempt({ groups }: User, info: RequestInfo): boolean {
  if (groups.includes(mastersGroup)) return true;
  return info.kind === 'path' ? isHealth(info.path) : isLongRunning(info) && info.verb !== 'watch';
}

const costlyVerbs = new Set(['list', 'watch', 'deletecollection']);

/** Whether its cost grows with the number of objects. */
export function isCostly(info: RequestInfo): boolean {
  return info.kind === 'resource' && costlyVerbs.has(info.verb);
}

const isHealth = (path: string): boolean => /^\/(healthz|livez|readyz)(\/|$)/.test(path);

/** Of pods and Services; and the questions that a part waits for. */
const streamed = new Set(['proxy', 'log', 'exec', 'attach', 'portforward', 'questions']);

const heldResources: ReadonlySet<string> = new Set(['releases', 'traffics']);

/** Whether it lasts as long as the client wants. A watch needs a seat until it has started. */
export function isLongRunning(info: RequestInfo): boolean {
  if (info.kind === 'path') return false;
  return (
    info.verb === 'watch' ||
    info.verb === 'proxy' ||
    streamed.has(info.subresource) ||
    // Held until the proxies have answered; their number is bounded for each user.
    (info.group === partsGroup && heldResources.has(info.resource))
  );
}
