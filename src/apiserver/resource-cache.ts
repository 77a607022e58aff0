// The live objects of one stored resource with their encoded JSON, and its recent changes.
import type { KubeObject } from '../meta/object.ts';

/** One object at one revision. Encoded once; every reader shares the bytes. */
export type Cached = {
  readonly key: string;
  readonly revision: number;
  readonly object: KubeObject;
  /** The object as JSON, `{"kind":...,"apiVersion":...,` first. */
  readonly json: Buffer;
  /** How many bytes of `json` the kind and apiVersion take; a list writes `{` and the rest. */
  readonly prefixLength: number;
};

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

export type Change = {
  readonly type: ChangeType;
  readonly revision: number;
  /** The state after the change; for DELETED the last state, under the revision of the delete. */
  readonly current: Cached;
  /** The state before; absent for ADDED. */
  readonly previous?: Cached;
};

export type ResourceCache = {
  readonly get: (key: string) => Cached | undefined;
  /** Objects whose key starts with the prefix, in key order. */
  readonly list: (prefix: string) => readonly Cached[];
  readonly count: () => number;
  /** The revision of the newest change of this resource. */
  readonly lastChange: () => number;
  /** Changes after a revision that are still remembered, oldest first; undefined when some were forgotten. */
  readonly changesAfter: (revision: number) => readonly Change[] | undefined;
  /** Hands on every change from now on, synchronously. Returns the function that ends it. */
  readonly listen: (listener: (change: Change) => void) => () => void;
  /** Fills an empty cache; entries in any order. */
  readonly load: (entries: readonly Cached[]) => void;
  /** Remembers a change from before the load, so that watches survive a restart. */
  readonly remember: (change: Change) => void;
  readonly apply: (change: Change) => void;
  /** Nothing before this revision is known: watches from before it are too old. */
  readonly forgetBefore: (revision: number) => void;
};

/** How far back a watch may resume without a new list: enough for a client that reconnects under load. */
const historyChanges = 8192;
/** Large objects must not turn the history into a leak. */
const historyBytes = 64 * 1024 * 1024;

export function createResourceCache(): ResourceCache {
  const live = new Map<string, Cached>();
  let sorted: Cached[] = [];
  const history = createHistory();
  const listeners = new Set<(change: Change) => void>();
  let lastChange = 0;

  const place = (key: string): number => firstNotBefore(sorted, key);

  function put(entry: Cached): void {
    const at = place(entry.key);
    if (sorted[at]?.key === entry.key) sorted[at] = entry;
    else sorted.splice(at, 0, entry);
    live.set(entry.key, entry);
  }

  function drop(key: string): void {
    if (!live.delete(key)) return;
    sorted.splice(place(key), 1);
  }

  return {
    get: (key) => live.get(key),
    list: (prefix) => sorted.slice(place(prefix), place(endOfPrefix(prefix))),
    count: () => sorted.length,
    lastChange: () => lastChange,
    changesAfter: history.after,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    load(entries) {
      sorted = [...entries].sort((a, b) => (a.key < b.key ? -1 : 1));
      for (const entry of sorted) {
        live.set(entry.key, entry);
        lastChange = Math.max(lastChange, entry.revision);
      }
    },
    remember: history.push,
    apply(change) {
      if (change.type === 'DELETED') drop(change.current.key);
      else put(change.current);
      lastChange = change.revision;
      history.push(change);
      for (const listener of listeners) listener(change);
    },
    forgetBefore: history.forgetBefore,
  };
}

type History = {
  readonly push: (change: Change) => void;
  readonly after: (revision: number) => readonly Change[] | undefined;
  readonly forgetBefore: (revision: number) => void;
};

/** A queue with a moving head: dropping from the front of a plain array costs its length each time. */
function createHistory(): History {
  let changes: Change[] = [];
  let head = 0;
  let bytes = 0;
  let forgotten = 0;

  function trim(): void {
    while (changes.length - head > historyChanges || bytes > historyBytes) {
      const oldest = changes[head];
      if (oldest === undefined) break;
      bytes -= oldest.current.json.length;
      forgotten = oldest.revision;
      head += 1;
    }
    if (head > historyChanges) {
      changes = changes.slice(head);
      head = 0;
    }
  }

  return {
    push(change) {
      changes.push(change);
      bytes += change.current.json.length;
      trim();
    },
    after(revision) {
      if (revision < forgotten) return undefined;
      let low = head;
      let high = changes.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((changes[middle]?.revision ?? 0) <= revision) low = middle + 1;
        else high = middle;
      }
      return changes.slice(low);
    },
    forgetBefore(revision) {
      forgotten = Math.max(forgotten, revision);
    },
  };
}

function firstNotBefore(sorted: readonly Cached[], key: string): number {
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
