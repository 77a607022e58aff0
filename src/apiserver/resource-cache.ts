// The live objects of one stored resource with their encoded JSON, and its recent changes.
import type { KubeObject } from '../meta/object.ts';
import { createOrderedCache } from './ordered-cache.ts';

/** One object at one revision. Encoded once; every reader shares the bytes. */
export type Cached = {
  readonly key: string;
  readonly revision: number;
  readonly object: KubeObject;
  /** The object as JSON, `{"kind":...,"apiVersion":...,` first. */
  readonly json: Buffer;
  /** How many bytes of `json` the kind and apiVersion take; a list writes `{` and the rest. */
  readonly prefixLength: number;
  /** Few will look at the object from now on: it need not be held beside its bytes. */
  readonly dropObject: () => void;
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
  /**
   * Hands on every change from now on, synchronously; `onGap` is called when some can no longer be known.
   * Returns the function that ends it.
   */
  readonly listen: (listener: (change: Change) => void, onGap?: () => void) => () => void;
  /** Fills an empty cache; entries in any order. */
  readonly load: (entries: readonly Cached[]) => void;
  /** Remembers a change from before the load, so that watches survive a restart. */
  readonly remember: (change: Change) => void;
  readonly apply: (change: Change) => void;
  /** What there is at a revision, in place of changes that are lost. */
  readonly replace: (entries: readonly Cached[], revision: number) => void;
  /** Nothing before this revision is known: watches from before it are too old. */
  readonly forgetBefore: (revision: number) => void;
};

/** How far back a watch may resume without a new list: enough for a client that reconnects under load. */
const historyChanges = 8192;
/** Large objects must not turn the history into a leak. */
const historyBytes = 64 * 1024 * 1024;

export function createResourceCache(): ResourceCache {
  const live = createOrderedCache();
  const history = createHistory();
  const listeners = new Set<(change: Change) => void>();
  const gapListeners = new Set<() => void>();
  let lastChange = 0;

  return {
    get: live.get,
    list: live.list,
    count: live.count,
    lastChange: () => lastChange,
    changesAfter: history.after,
    listen(listener, onGap) {
      listeners.add(listener);
      if (onGap !== undefined) gapListeners.add(onGap);
      return () => {
        listeners.delete(listener);
        if (onGap !== undefined) gapListeners.delete(onGap);
      };
    },
    load(entries) {
      for (const entry of entries) {
        live.put(entry);
        lastChange = Math.max(lastChange, entry.revision);
      }
    },
    remember: history.push,
    apply(change) {
      if (change.type === 'DELETED') live.drop(change.current.key);
      else live.put(change.current);
      lastChange = change.revision;
      history.push(change);
      for (const listener of listeners) listener(change);
    },
    replace(entries, revision) {
      const kept = new Set(entries.map(({ key }) => key));
      for (const { key } of [...live.list('')]) if (!kept.has(key)) live.drop(key);
      for (const entry of entries) live.put(entry);
      lastChange = revision;
      history.forgetBefore(revision);
      for (const onGap of gapListeners) onGap();
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
      oldest.current.dropObject();
      forgotten = oldest.revision;
      head += 1;
    }
    // What was dropped must not be held on to, and a copy each time would cost the length of the queue.
    if (head * 2 > changes.length) {
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
