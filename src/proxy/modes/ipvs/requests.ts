// Who wants which item, and which of them is there.
import type { Item } from './item.ts';

/** Changes as service ports come and go. */
export type Wishes = {
  /** Everything that a service port wants from now on; nothing when it is gone. */
  readonly set: (portKey: string, items: readonly Item[]) => void;
  /** What changed since the last call: items that were there, and those there in their place. */
  readonly takeChanges: () => { readonly before: readonly Item[]; readonly after: readonly Item[] };
  /** All that is there. */
  readonly items: () => Iterable<Item>;
};

export function createRequests(): Wishes {
  /** By item key, then by service port. */
  const claims = new Map<string, Map<string, Item>>();
  const keysOf = new Map<string, readonly string[]>();
  const touched = new Map<string, Item | undefined>();

  function touch(key: string): void {
    if (!touched.has(key)) touched.set(key, winner(claims.get(key)));
  }

  return {
    set(portKey, items) {
      for (const key of keysOf.get(portKey) ?? []) {
        touch(key);
        const claimants = claims.get(key);
        claimants?.delete(portKey);
        if (claimants?.size === 0) claims.delete(key);
      }
      keysOf.delete(portKey);
      if (items.length === 0) return;
      for (const item of items) {
        touch(item.key);
        const claimants = claims.get(item.key) ?? new Map<string, Item>();
        claimants.set(portKey, item);
        claims.set(item.key, claimants);
      }
      keysOf.set(portKey, [...new Set(items.map(({ key }) => key))]);
    },
    takeChanges() {
      const before = [...touched.values()].filter((item) => item !== undefined);
      const after = [...touched.keys()]
        .map((key) => winner(claims.get(key)))
        .filter((item) => item !== undefined);
      touched.clear();
      return { before, after };
    },
    *items() {
      for (const claimants of claims.values()) {
        const item = winner(claimants);
        if (item !== undefined) yield item;
      }
    },
  };
}

function winner(claimants: ReadonlyMap<string, Item> | undefined): Item | undefined {
  let best: Item | undefined;
  for (const item of claimants?.values() ?? []) {
    if (best === undefined || item.rank < best.rank) best = item;
  }
  return best;
}
