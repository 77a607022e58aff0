// A pool of unconnected sockets: dialing takes one from the pool and does not wait for the thread that opens them.
import type { SocketRequest } from './lan-messages.ts';

export type SocketPool = {
  /** A descriptor from the pool, or one that is opened now. */
  readonly take: (request: SocketRequest) => number;
  readonly add: (request: SocketRequest, descriptors: readonly number[]) => void;
  /** Removes all descriptors, for the caller to close. */
  readonly drain: () => readonly number[];
};

export type SocketPoolOptions = {
  /** Opens one while the caller waits. */
  readonly open: (request: SocketRequest) => number;
  /** Requests more, which arrive by `add`. */
  readonly refill: (request: SocketRequest, count: number) => void;
};

/** Enough for a page with all its resources; each is one descriptor of the process. */
const poolSize = 16;
/** Refilled when fewer are left. */
const lowWaterMark = 8;

export function createSocketPool({ open, refill }: SocketPoolOptions): SocketPool {
  const pools = new Map<string, { readonly ready: number[]; isRefilling: boolean }>();
  const poolFor = (request: SocketRequest) => {
    const key = poolKey(request);
    const pool = pools.get(key) ?? { ready: [], isRefilling: false };
    pools.set(key, pool);
    return pool;
  };
  return {
    take(request) {
      const pool = poolFor(request);
      const descriptor = pool.ready.pop() ?? open(request);
      if (pool.ready.length < lowWaterMark && !pool.isRefilling) {
        pool.isRefilling = true;
        refill(request, poolSize - pool.ready.length);
      }
      return descriptor;
    },
    add(request, descriptors) {
      const pool = poolFor(request);
      pool.isRefilling = false;
      pool.ready.push(...descriptors);
    },
    drain() {
      const remaining = [...pools.values()].flatMap(({ ready }) => ready);
      pools.clear();
      return remaining;
    },
  };
}

/** An unconnected socket can be used for every address of its family. */
function poolKey({ namespacePath, endpoint }: SocketRequest): string {
  return `${namespacePath} ${endpoint.host.includes(':') ? 6 : 4}`;
}
