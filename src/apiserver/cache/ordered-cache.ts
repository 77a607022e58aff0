// The objects of one resource by key, and in key order for lists. Writes do not keep the order: an insert into
// a sorted array costs its length, so new keys are sorted in by the next list.
import type { Cached } from './resource-cache.ts';

export type OrderedCache = {
  readonly get: (key: string) => Cached | undefined;
  /** Objects whose key starts with the prefix, in key order. */
  readonly list: (prefix: string) => readonly Cached[];
  readonly count: () => number;
  readonly put: (entry: Cached) => void;
  readonly drop: (key: string) => void;
};

/** The newest state of an object; a deleted object leaves an empty slot until the next list. */
type Slot = { readonly key: string; entry: Cached | undefined };

/** Sorting so many takes a millisecond or two; a hundred thousand at once would block the event loop. */
const maxUnsorted = 4096;

export function createOrderedCache(): OrderedCache {
  const slots = new Map<string, Slot>();
  let sorted: Slot[] = [];
  let added: Slot[] = [];
  let hasEmpty = false;

  function inOrder(): readonly Slot[] {
    if (hasEmpty) {
      sorted = sorted.filter(isFilled);
      added = added.filter(isFilled);
      hasEmpty = false;
    }
    if (added.length > 0) {
      sorted = merged(sorted, added.sort(byKey));
      added = [];
    }
    return sorted;
  }

  return {
    get: (key) => slots.get(key)?.entry,
    list(prefix) {
      const all = inOrder();
      const end = firstNotBefore(all, endOfPrefix(prefix));
      const found: Cached[] = [];
      for (let at = firstNotBefore(all, prefix); at < end; at += 1) {
        found.push((all[at] as Slot).entry as Cached);
      }
      return found;
    },
    count: () => slots.size,
    put(entry) {
      const slot = slots.get(entry.key);
      if (slot !== undefined) {
        slot.entry = entry;
        return;
      }
      const fresh = { key: entry.key, entry };
      slots.set(entry.key, fresh);
      added.push(fresh);
      if (added.length >= maxUnsorted) inOrder();
    },
    drop(key) {
      const slot = slots.get(key);
      if (slot === undefined) return;
      slots.delete(key);
      slot.entry = undefined;
      hasEmpty = true;
    },
  };
}

const isFilled = ({ entry }: Slot): boolean => entry !== undefined;

const byKey = (a: Slot, b: Slot): number => (a.key < b.key ? -1 : 1);

/** Of two sorted lists without a common key. */
function merged(a: readonly Slot[], b: readonly Slot[]): Slot[] {
  const first = b[0];
  const last = a.at(-1);
  if (first === undefined || last === undefined || last.key < first.key) return [...a, ...b];
  const all: Slot[] = [];
  let next = 0;
  for (const slot of a) {
    for (let other = b[next]; other !== undefined && other.key < slot.key; other = b[next]) {
      all.push(other);
      next += 1;
    }
    all.push(slot);
  }
  for (; next < b.length; next += 1) all.push(b[next] as Slot);
  return all;
}

function firstNotBefore(sorted: readonly Slot[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.key ?? '') < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first key after all keys with the prefix; every prefix here ends in '/', whose successor is '0'. */
function endOfPrefix(prefix: string): string {
  return `${prefix.slice(0, -1)}0`;
}
