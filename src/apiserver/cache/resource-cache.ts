// The live objects of one stored resource with their encoded JSON, and its recent changes.

import { internal } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { goQuote } from '../../schema/go-quote.ts';
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
  /** The object is rarely read from now on: it need not be held beside its bytes. */
  readonly dropObject: () => void;
};

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

export type Change = {
  readonly type: ChangeType;
  readonly revision: number;
  /** The state after the change; for DELETED the last state, under the revision of the delete. */
  readonly current: Cached;
  /** The previous state; absent for ADDED. */
  readonly previous?: Cached;
};

/** An object that is stored but cannot be read, as when its encryption key is missing. */
export type UnreadableObject = {
  readonly key: string;
  readonly revision: number;
  readonly reason: string;
};

/** A change of an object that cannot be read, or the delete of one. It cannot be sent to watchers. */
export type UnreadableChange = {
  readonly key: string;
  readonly revision: number;
  /** Absent for a delete. */
  readonly reason?: string;
};

export type ResourceCache = {
  /** Throws an ApiError for an object that cannot be read: it is never treated as absent. */
  readonly get: (key: string) => Cached | undefined;
  /** Objects whose key starts with the prefix, in key order. Throws an ApiError where one of them cannot be read. */
  readonly list: (prefix: string) => readonly Cached[];
  /** The same for the server's own decisions, which are made without the objects that cannot be read. */
  readonly getReadable: (key: string) => Cached | undefined;
  readonly listReadable: (prefix: string) => readonly Cached[];
  readonly unreadable: () => readonly UnreadableObject[];
  readonly isUnreadable: (key: string) => boolean;
  readonly count: () => number;
  /** The revision of the newest change of this resource. */
  readonly lastChange: () => number;
  /** Changes after a revision, oldest first; undefined when the history does not reach back so far. */
  readonly changesAfter: (revision: number) => readonly Change[] | undefined;
  /**
   * Calls the listener with every change from now on, synchronously; `onGap` when changes were missed, with the
   * reason where an object cannot be read. Returns the function that ends it.
   */
  readonly subscribe: (
    listener: (change: Change) => void,
    onGap?: (unreadable?: string) => void,
  ) => () => void;
  /** Fills an empty cache; entries in any order. */
  readonly load: (entries: readonly Cached[]) => void;
  /** Adds a change from before the load to the history, so that watches survive a restart. */
  readonly addHistory: (change: Change) => void;
  readonly apply: (change: Change) => void;
  /** Also at the load, for stored objects that cannot be read. */
  readonly applyUnreadable: (change: UnreadableChange) => void;
  /** Adds an object that could not be read before; the revision is that of the store. */
  readonly restore: (cached: Cached, revision: number) => void;
  /** Replaces all objects by those of a revision, after changes were missed. */
  readonly replace: (entries: readonly Cached[], revision: number) => void;
  /** The history starts here: watches from an earlier revision are too old. */
  readonly forgetBefore: (revision: number) => void;
};

/** How far back a watch may resume without a new list: enough for a client that reconnects under load. */
const historyChanges = 8192;
/** Large objects must not make the history grow without bound. */
const historyBytes = 64 * 1024 * 1024;

export function createResourceCache(): ResourceCache {
  const live = createOrderedCache();
  const history = createHistory();
  const listeners = new Set<(change: Change) => void>();
  const gapListeners = new Set<(unreadable?: string) => void>();
  const unreadable = new Map<string, UnreadableObject>();
  let lastChange = 0;

  /** The history starts at this revision: listeners must list anew. */
  function invalidateHistory(revision: number, reason?: string): void {
    lastChange = Math.max(lastChange, revision);
    history.forgetBefore(revision);
    for (const onGap of [...gapListeners]) onGap(reason);
  }

  return {
    get(key) {
      const found = unreadable.size === 0 ? undefined : unreadable.get(key);
      if (found !== undefined) throw internal(found.reason);
      return live.get(key);
    },
    list(prefix) {
      if (unreadable.size > 0) assertReadable(unreadable, prefix);
      return live.list(prefix);
    },
    getReadable: live.get,
    listReadable: live.list,
    unreadable: () => [...unreadable.values()],
    isUnreadable: (key) => unreadable.has(key),
    count: live.count,
    lastChange: () => lastChange,
    changesAfter: history.after,
    subscribe(listener, onGap) {
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
    addHistory: history.push,
    apply(change) {
      if (unreadable.size > 0) unreadable.delete(change.current.key);
      if (change.type === 'DELETED') live.drop(change.current.key);
      else live.put(change.current);
      lastChange = change.revision;
      history.push(change);
      for (const listener of listeners) listener(change);
    },
    applyUnreadable({ key, revision, reason }) {
      live.drop(key);
      if (reason === undefined) unreadable.delete(key);
      else unreadable.set(key, { key, revision, reason });
      invalidateHistory(revision, reason);
    },
    restore(cached, revision) {
      if (unreadable.get(cached.key)?.revision !== cached.revision) return;
      unreadable.delete(cached.key);
      live.put(cached);
      invalidateHistory(revision);
    },
    replace(entries, revision) {
      unreadable.clear();
      const present = new Set(entries.map(({ key }) => key));
      for (const { key } of [...live.list('')]) if (!present.has(key)) live.drop(key);
      for (const entry of entries) live.put(entry);
      invalidateHistory(revision);
    },
    forgetBefore: history.forgetBefore,
  };
}

function assertReadable(unreadable: ReadonlyMap<string, UnreadableObject>, prefix: string): void {
  const [first] = [...unreadable.values()]
    .filter(({ key }) => key.startsWith(prefix))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  if (first === undefined) return;
  throw internal(`unable to transform key ${goQuote(first.key)}: ${first.reason}`);
}

type History = {
  readonly push: (change: Change) => void;
  readonly after: (revision: number) => readonly Change[] | undefined;
  readonly forgetBefore: (revision: number) => void;
};

/** A queue with a moving head: dropping from the front of a plain array costs its length each time. */
function createHistory(): History {
  let changes: (Change | undefined)[] = [];
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
      // Its slot is removed later: a copy each time would cost the length of the queue.
      changes[head] = undefined;
      head += 1;
    }
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
      return changes.slice(low) as Change[];
    },
    forgetBefore(revision) {
      forgotten = Math.max(forgotten, revision);
    },
  };
}
