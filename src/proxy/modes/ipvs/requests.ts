// Items by the service ports that request them; of several requests for one item, the best rank counts.
import type { Item } from './item.ts';

/** Changes as service ports come and go. */
export type Requests = {
  /** All items of a service port; none when it was removed. */
  readonly set: (portKey: string, items: readonly Item[]) => void;
  /** Items that changed since the last call: the previous and the current ones. */
  readonly takeChanges: () => { readonly before: readonly Item[]; readonly after: readonly Item[] };
  /** All items in effect. */
  readonly items: () => Iterable<Item>;
};

export function createRequests(): Requests {
  /** By item key, then by service port. */
  const claims = new Map<string, Map<string, Item>>();
  const keysOf = new Map<string, readonly string[]>();
  const dirty = new Map<string, Item | undefined>();

  function markDirty(key: string): void {
    if (!dirty.has(key)) dirty.set(key, winner(claims.get(key)));
  }

  return {
    set(portKey, items) {
      for (const key of keysOf.get(portKey) ?? []) {
        markDirty(key);
        const claimants = claims.get(key);
        claimants?.delete(portKey);
        if (claimants?.size === 0) claims.delete(key);
      }
      keysOf.delete(portKey);
      if (items.length === 0) return;
      for (const item of items) {
        markDirty(item.key);
        const claimants = claims.get(item.key) ?? new Map<string, Item>();
        claimants.set(portKey, item);
        claims.set(item.key, claimants);
      }
      keysOf.set(portKey, [...new Set(items.map(({ key }) => key))]);
    },
    takeChanges() {
      const before = [...dirty.values()].filter((item) => item !== undefined);
      const after = [...dirty.keys()]
        .map((key) => winner(claims.get(key)))
        .filter((item) => item !== undefined);
      dirty.clear();
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
