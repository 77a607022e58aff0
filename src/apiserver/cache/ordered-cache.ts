// The objects of one resource by key, and in key order for lists. Writes do not keep the order: an insert into
// a sorted array costs its length, so new keys wait in short sorted runs, which the next list merges.
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
  /** Each is more than twice as long as the next, so that a key is merged a few times at most. */
  let runs: Slot[][] = [];
  let added: Slot[] = [];
  let hasEmpty = false;

  function sortAdded(): void {
    let run = added.sort(byKey);
    added = [];
    for (let last = runs.at(-1); last !== undefined; last = runs.at(-1)) {
      if (last.length > 2 * run.length) break;
      runs.pop();
      run = merged(last, run);
    }
    runs.push(run);
  }

  function inOrder(): readonly Slot[] {
    if (hasEmpty) {
      runs = runs.map((run) => run.filter(isFilled));
      added = added.filter(isFilled);
      hasEmpty = false;
    }
    if (added.length > 0) sortAdded();
    // The shortest first.
    const sorted = runs.reduceRight((all, run) => merged(run, all), []);
    runs = [sorted];
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
      if (added.length >= maxUnsorted) sortAdded();
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

/** Of two sorted lists; without the slots that are empty by now, so that they do not wait for a list that may never come. */
function merged(a: Slot[], b: Slot[]): Slot[] {
  if (b.length === 0) return a;
  if (a.length === 0) return b;
  const all: Slot[] = [];
  let next = 0;
  for (const slot of a) {
    for (let other = b[next]; other !== undefined && other.key < slot.key; other = b[next]) {
      if (isFilled(other)) all.push(other);
      next += 1;
    }
    if (isFilled(slot)) all.push(slot);
  }
  for (; next < b.length; next += 1) {
    const slot = b[next] as Slot;
    if (isFilled(slot)) all.push(slot);
  }
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
