// How far the store's watch has come, and who waits for or listens to it.
import type { Listing, StoreEvent, StoreNotices } from '../../store.ts';

type Listener = (events: readonly StoreEvent[]) => void;
type Waiting = {
  readonly revision: number;
  readonly sinceMs: number;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
};

export type RevisionProgress = {
  readonly subscribe: (listener: Listener, news?: StoreNotices) => () => void;
  /** Resolves when listeners have heard of the revision. */
  readonly reached: (revision: number) => Promise<void>;
  readonly isAwaited: () => boolean;
  /** Who has waited since before this time waits no longer. */
  readonly giveUp: (beforeMs: number, reason: Error) => void;
  readonly revision: () => number;
  readonly hear: (revision: number, events: readonly StoreEvent[]) => void;
  /** What there is in place of changes that nobody can hear any more. */
  readonly replace: (everything: Listing) => void;
  readonly compacted: () => number;
  readonly compact: (revision: number) => void;
  /** Nothing more will be heard: who waits is told why. */
  readonly end: (reason: Error) => void;
};

export function createRevisionProgress(first: number, firstCompacted: number): RevisionProgress {
  const listeners = new Map<object, { readonly listener: Listener; readonly news: StoreNotices }>();
  let waiting: Waiting[] = [];
  let revision = first;
  let compacted = firstCompacted;
  let ended: Error | undefined;
  const come = (to: number): void => {
    revision = Math.max(revision, to);
    const due = waiting.filter((each) => each.revision <= revision);
    waiting = waiting.filter((each) => each.revision > revision);
    for (const { resolve } of due) resolve();
  };
  return {
    subscribe(listener, news = {}) {
      const id = {};
      listeners.set(id, { listener, news });
      return () => listeners.delete(id);
    },
    reached(wanted) {
      if (wanted <= revision) return Promise.resolve();
      if (ended !== undefined) return Promise.reject(ended);
      return new Promise((resolve, reject) => {
        waiting.push({ revision: wanted, sinceMs: performance.now(), resolve, reject });
      });
    },
    isAwaited: () => waiting.length > 0,
    giveUp(beforeMs, reason) {
      const late = waiting.filter((each) => each.sinceMs < beforeMs);
      if (late.length === 0) return;
      waiting = waiting.filter((each) => each.sinceMs >= beforeMs);
      for (const { reject } of late) reject(reason);
    },
    revision: () => revision,
    hear(to, events) {
      for (const { listener, news } of listeners.values()) {
        if (events.length > 0) listener(events);
        else news.reached?.(to);
      }
      come(to);
    },
    replace(everything) {
      for (const { news } of listeners.values()) news.missed?.(everything);
      compacted = Math.max(compacted, everything.revision);
      come(everything.revision);
    },
    compacted: () => compacted,
    compact(to) {
      compacted = Math.max(compacted, to);
    },
    end(reason) {
      ended = reason;
      for (const { reject } of waiting) reject(reason);
      waiting = [];
    },
  };
}
