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

/** An object that is stored but cannot be read, as where the key is missing that it is encrypted with. */
export type UnreadableObject = {
  readonly key: string;
  readonly revision: number;
  readonly reason: string;
};

/** A change that nobody can be told: of an object that cannot be read, or by which such a one went. */
export type LostChange = {
  readonly key: string;
  readonly revision: number;
  /** Absent where the object is gone. */
  readonly reason?: string;
};

export type ResourceCache = {
  /** Throws an ApiError where there is an object that cannot be read: what cannot be read is never taken for absent. */
  readonly get: (key: string) => Cached | undefined;
  /** Objects whose key starts with the prefix, in key order. Throws an ApiError where one of them cannot be read. */
  readonly list: (prefix: string) => readonly Cached[];
  /** The same for the server's own decisions, which have to be made without what cannot be read. */
  readonly getReadable: (key: string) => Cached | undefined;
  readonly listReadable: (prefix: string) => readonly Cached[];
  readonly unreadable: () => readonly UnreadableObject[];
  readonly isUnreadable: (key: string) => boolean;
  readonly count: () => number;
  /** The revision of the newest change of this resource. */
  readonly lastChange: () => number;
  /** Changes after a revision that are still remembered, oldest first; undefined when some were forgotten. */
  readonly changesAfter: (revision: number) => readonly Change[] | undefined;
  /**
   * Hands on every change from now on, synchronously; `onGap` is called when some can no longer be known, with the
   * reason where an object cannot be read.
   * Returns the function that ends it.
   */
  readonly listen: (
    listener: (change: Change) => void,
    onGap?: (unreadable?: string) => void,
  ) => () => void;
  /** Fills an empty cache; entries in any order. */
  readonly load: (entries: readonly Cached[]) => void;
  /** Remembers a change from before the load, so that watches survive a restart. */
  readonly remember: (change: Change) => void;
  readonly apply: (change: Change) => void;
  /** Also at the load, of what is there and cannot be read. */
  readonly lose: (change: LostChange) => void;
  /** An object that could not be read can be now; the revision is that of the store. */
  readonly restore: (cached: Cached, revision: number) => void;
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
  const gapListeners = new Set<(unreadable?: string) => void>();
  const unreadable = new Map<string, UnreadableObject>();
  let lastChange = 0;

  /** Nothing is known from before this revision: who follows the changes has to list anew. */
  function breakOff(revision: number, reason?: string): void {
    lastChange = Math.max(lastChange, revision);
    history.forgetBefore(revision);
    for (const onGap of [...gapListeners]) onGap(reason);
  }

  return {
    get(key) {
      const lost = unreadable.size === 0 ? undefined : unreadable.get(key);
      if (lost !== undefined) throw internal(lost.reason);
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
      if (unreadable.size > 0) unreadable.delete(change.current.key);
      if (change.type === 'DELETED') live.drop(change.current.key);
      else live.put(change.current);
      lastChange = change.revision;
      history.push(change);
      for (const listener of listeners) listener(change);
    },
    lose({ key, revision, reason }) {
      live.drop(key);
      if (reason === undefined) unreadable.delete(key);
      else unreadable.set(key, { key, revision, reason });
      breakOff(revision, reason);
    },
    restore(cached, revision) {
      if (unreadable.get(cached.key)?.revision !== cached.revision) return;
      unreadable.delete(cached.key);
      live.put(cached);
      breakOff(revision);
    },
    replace(entries, revision) {
      unreadable.clear();
      const kept = new Set(entries.map(({ key }) => key));
      for (const { key } of [...live.list('')]) if (!kept.has(key)) live.drop(key);
      for (const entry of entries) live.put(entry);
      breakOff(revision);
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
      // Its place goes later: a copy each time would cost the length of the queue.
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
