// The revision that the store's watch has reached, who waits for one, and who listens.
import type { Listing, StoreEvent, StoreNotices } from '../../store.ts';

type Listener = (events: readonly StoreEvent[]) => void;
type Waiter = {
  readonly revision: number;
  readonly sinceMs: number;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
};

export type RevisionProgress = {
  readonly subscribe: (listener: Listener, notices?: StoreNotices) => () => void;
  /** Resolves when listeners have everything up to the revision. */
  readonly waitFor: (revision: number) => Promise<void>;
  readonly hasWaiters: () => boolean;
  /** Rejects those that have waited since before this time. */
  readonly rejectOlder: (beforeMs: number, reason: Error) => void;
  readonly revision: () => number;
  readonly advance: (revision: number, events: readonly StoreEvent[]) => void;
  /** Hands over a full listing in place of changes that were compacted. */
  readonly replace: (everything: Listing) => void;
  readonly compacted: () => number;
  readonly compact: (revision: number) => void;
  /** Nothing more is delivered: rejects those that wait. */
  readonly close: (reason: Error) => void;
};

export function createRevisionProgress(first: number, firstCompacted: number): RevisionProgress {
  const listeners = new Map<
    object,
    { readonly listener: Listener; readonly notices: StoreNotices }
  >();
  let waiters: Waiter[] = [];
  let revision = first;
  let compacted = firstCompacted;
  let closeReason: Error | undefined;
  const advanceTo = (to: number): void => {
    revision = Math.max(revision, to);
    const due = waiters.filter((each) => each.revision <= revision);
    waiters = waiters.filter((each) => each.revision > revision);
    for (const { resolve } of due) resolve();
  };
  return {
    subscribe(listener, notices = {}) {
      const id = {};
      listeners.set(id, { listener, notices });
      return () => listeners.delete(id);
    },
    waitFor(wanted) {
      if (wanted <= revision) return Promise.resolve();
      if (closeReason !== undefined) return Promise.reject(closeReason);
      return new Promise((resolve, reject) => {
        waiters.push({ revision: wanted, sinceMs: performance.now(), resolve, reject });
      });
    },
    hasWaiters: () => waiters.length > 0,
    rejectOlder(beforeMs, reason) {
      const expired = waiters.filter((each) => each.sinceMs < beforeMs);
      if (expired.length === 0) return;
      waiters = waiters.filter((each) => each.sinceMs >= beforeMs);
      for (const { reject } of expired) reject(reason);
    },
    revision: () => revision,
    advance(to, events) {
      for (const { listener, notices } of listeners.values()) {
        if (events.length > 0) listener(events);
        else notices.reached?.(to);
      }
      advanceTo(to);
    },
    replace(everything) {
      for (const { notices } of listeners.values()) notices.missed?.(everything);
      compacted = Math.max(compacted, everything.revision);
      advanceTo(everything.revision);
    },
    compacted: () => compacted,
    compact(to) {
      compacted = Math.max(compacted, to);
    },
    close(reason) {
      closeReason = reason;
      for (const { reject } of waiters) reject(reason);
      waiters = [];
    },
  };
}
