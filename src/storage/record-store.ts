// A Store over a record log: what the memory and the embedded backend share.
import { type StoreClock, startExpiry } from './expiry.ts';
import {
  assertOpen,
  assertReached,
  assertRetained,
  committedEventOf,
  type History,
  readEntry,
  readListing,
} from './history.ts';
import type { Change, RecordLog } from './record-log.ts';
import type { Store, StoreEvent } from './store.ts';
import type { Versions } from './versions.ts';
import { createCondition, watchHistory } from './watch-history.ts';
import { startWriteQueue } from './write-queue.ts';
import { assertWritable } from './write-rules.ts';

/** A log and its index. */
export type Loaded = {
  readonly log: RecordLog;
  readonly versions: Versions;
  readonly revision: number;
  readonly compacted: number;
};

export function startRecordStore(loaded: Loaded, clock: StoreClock): Store {
  const history: History = { ...loaded, isClosed: false };
  const listeners = new Set<(events: readonly StoreEvent[]) => void>();
  const changed = createCondition();

  const publish = (changes: readonly Change[]): void => {
    for (const { key, revision, expiresAt } of changes) {
      if (expiresAt !== undefined) expiry.add({ key, revision, expiresAt });
    }
    if (listeners.size > 0)
      notify(
        listeners,
        changes.map((change) => committedEventOf(history.log, change)),
      );
    changed.notifyAll();
  };
  const queue = startWriteQueue(history, clock.now, publish);
  const expiry = startExpiry(clock, (due) => {
    for (const expiring of due) {
      const { key, revision } = expiring;
      queue.transact({ compare: [{ key, revision }], write: [{ delete: key }] }).catch(() => {
        // Whatever the reason, such as a full disk: the key outlives its time and is tried again, until the store is closed.
        if (!history.isClosed) expiry.add({ ...expiring, expiresAt: clock.now() + 1_000 });
      });
    }
  });
  for (const expiring of history.versions.expiring()) expiry.add(expiring);

  return {
    isSoleWriter: true,
    async get(key, options = {}) {
      const revision = options.revision ?? history.revision;
      assertRetained(history, revision);
      return readEntry(history, key, revision);
    },
    async list(prefix, options = {}) {
      assertRetained(history, options.revision ?? history.revision);
      return readListing(history, prefix, options);
    },
    transact(transaction) {
      try {
        assertOpen(history);
        assertWritable(transaction.write);
      } catch (error) {
        return Promise.reject(error);
      }
      // As it is: an async function around it would resolve three steps later.
      return queue.transact(transaction);
    },
    watch: (prefix, afterRevision, signal) =>
      watchHistory(history, { prefix, afterRevision, signal, changed }),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async currentRevision() {
      assertOpen(history);
      return history.revision;
    },
    async expiring() {
      assertOpen(history);
      return [...history.versions.expiring()];
    },
    async checkWrites() {
      assertOpen(history);
      await history.log.checkWrites?.();
    },
    compactedRevision: () => history.compacted,
    async compact(revision) {
      assertOpen(history);
      assertReached(history, revision);
      await queue.compact(revision);
    },
    async close() {
      if (history.isClosed) return;
      history.isClosed = true;
      expiry.close();
      changed.notifyAll();
      await queue.idle();
      await history.log.close();
    },
  };
}

/** A listener that throws has missed events, and its cache is wrong from now on: the process must not go on. */
function notify(
  listeners: ReadonlySet<(events: readonly StoreEvent[]) => void>,
  events: readonly StoreEvent[],
): void {
  for (const listener of listeners) {
    try {
      listener(events);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
