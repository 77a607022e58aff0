// How far the store's watch has come, and who waits for or listens to it.
import type { StoreEvent } from '../../store.ts';

type Listener = (events: readonly StoreEvent[]) => void;
type Waiting = {
  readonly revision: number;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
};

export type Heard = {
  readonly subscribe: (listener: Listener) => () => void;
  /** Resolves when listeners have heard of the revision. */
  readonly reached: (revision: number) => Promise<void>;
  readonly revision: () => number;
  readonly hear: (revision: number, events: readonly StoreEvent[]) => void;
  readonly compacted: () => number;
  readonly compact: (revision: number) => void;
  /** Nothing more will be heard: who waits is told why. */
  readonly end: (reason: Error) => void;
};

export function createHeard(first: number, firstCompacted: number): Heard {
  const listeners = new Set<Listener>();
  let waiting: Waiting[] = [];
  let revision = first;
  let compacted = firstCompacted;
  let ended: Error | undefined;
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reached(wanted) {
      if (wanted <= revision) return Promise.resolve();
      if (ended !== undefined) return Promise.reject(ended);
      return new Promise((resolve, reject) => {
        waiting.push({ revision: wanted, resolve, reject });
      });
    },
    revision: () => revision,
    hear(come, events) {
      if (events.length > 0) for (const listener of listeners) listener(events);
      revision = Math.max(revision, come);
      const due = waiting.filter((each) => each.revision <= revision);
      waiting = waiting.filter((each) => each.revision > revision);
      for (const { resolve } of due) resolve();
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
