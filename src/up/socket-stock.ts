// Unconnected sockets kept ready: whoever dials takes one and does not wait for the thread that makes them.
import type { SocketWish } from './lan-messages.ts';

export type SocketStock = {
  /** A descriptor from the stock, or one that is made now. */
  readonly take: (wish: SocketWish) => number;
  readonly add: (wish: SocketWish, descriptors: readonly number[]) => void;
  /** All that is left, to be closed. */
  readonly empty: () => readonly number[];
};

export type StockOptions = {
  /** Makes one while the caller waits. */
  readonly makeNow: (wish: SocketWish) => number;
  /** Asks for more; they come by `add`. */
  readonly order: (wish: SocketWish, count: number) => void;
};

/** Enough for a page with all its parts; each is one descriptor of the process. */
const wanted = 16;
/** Ordered anew when so few are left. */
const few = 8;

export function createSocketStock({ makeNow, order }: StockOptions): SocketStock {
  const shelves = new Map<string, { readonly ready: number[]; isOrdered: boolean }>();
  const shelfFor = (wish: SocketWish) => {
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
function shelfKey({ namespacePath, endpoint }: SocketWish): string {
  return `${namespacePath} ${endpoint.host.includes(':') ? 6 : 4}`;
}
