// Unconnected sockets kept ready: whoever dials takes one and does not wait for the thread that makes them.
import type { SocketRequest } from './lan-messages.ts';

export type SocketPool = {
  /** A descriptor from the stock, or one that is made now. */
  readonly take: (wish: SocketRequest) => number;
  readonly add: (wish: SocketRequest, descriptors: readonly number[]) => void;
  /** All that is left, to be closed. */
  readonly empty: () => readonly number[];
};

export type SocketPoolOptions = {
  /** Makes one while the caller waits. */
  readonly makeNow: (wish: SocketRequest) => number;
  /** Asks for more; they come by `add`. */
  readonly order: (wish: SocketRequest, count: number) => void;
};

/** Enough for a page with all its parts; each is one descriptor of the process. */
const wanted = 16;
/** Ordered anew when so few are left. */
const few = 8;

export function createSocketPool({ makeNow, order }: SocketPoolOptions): SocketPool {
  const shelves = new Map<string, { readonly ready: number[]; isOrdered: boolean }>();
  const shelfFor = (wish: SocketRequest) => {
    const key = shelfKey(wish);
    const shelf = shelves.get(key) ?? { ready: [], isOrdered: false };
    shelves.set(key, shelf);
    return shelf;
  };
  return {
    take(wish) {
      const shelf = shelfFor(wish);
      const found = shelf.ready.pop() ?? makeNow(wish);
      if (shelf.ready.length < few && !shelf.isOrdered) {
        shelf.isOrdered = true;
        order(wish, wanted - shelf.ready.length);
      }
      return found;
    },
    add(wish, descriptors) {
      const shelf = shelfFor(wish);
      shelf.isOrdered = false;
      shelf.ready.push(...descriptors);
    },
    empty() {
      const left = [...shelves.values()].flatMap(({ ready }) => ready);
      shelves.clear();
      return left;
    },
  };
}

/** A socket that is not connected yet fits every address of its family. */
function shelfKey({ namespacePath, endpoint }: SocketRequest): string {
  return `${namespacePath} ${endpoint.host.includes(':') ? 6 : 4}`;
}
