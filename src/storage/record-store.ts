// A Store over a record log: what the memory engine and the embedded engine share.
import { type StoreClock, startExpiry } from './expiry.ts';
import {
  assertKept,
  assertOpen,
  assertReached,
  freshEventOf,
  type History,
  readEntry,
  readListing,
} from './history.ts';
import type { Change, RecordLog } from './record-log.ts';
import type { Store, StoreEvent } from './store.ts';
import type { Versions } from './versions.ts';
import { startWakeUp, watchHistory } from './watch-history.ts';
import { startWriteQueue } from './write-queue.ts';
import { assertWritable } from './write-rules.ts';

/** A log and what was found in it. */
export type Loaded = {
  readonly log: RecordLog;
  readonly versions: Versions;
  readonly revision: number;
  readonly compacted: number;
};

export function startRecordStore(loaded: Loaded, clock: StoreClock): Store {
  const history: History = { ...loaded, isClosed: false };
  const listeners = new Set<(events: readonly StoreEvent[]) => void>();
  const wakeUp = startWakeUp();

  const publish = (changes: readonly Change[]): void => {
    for (const { key, revision, expiresAt } of changes) {
      if (expiresAt !== undefined) expiry.add({ key, revision, expiresAt });
    }
    if (listeners.size > 0)
      notify(
        listeners,
        changes.map((change) => freshEventOf(history.log, change)),
      );
    wakeUp.all();
  };
  const queue = startWriteQueue(history, clock.now, publish);
  const expiry = startExpiry(clock, (due) => {
    for (const expiring of due) {
      const { key, revision } = expiring;
      queue.transact({ compare: [{ key, revision }], write: [{ delete: key }] }).catch(() => {
        // No space, or closing: the key stays past its time, and is tried again while the store lives.
        if (!history.isClosed) expiry.add({ ...expiring, expiresAt: clock.now() + 1_000 });
      });
    }
  });
  for (const expiring of history.versions.expiring()) expiry.add(expiring);

  return {
    isSoleWriter: true,
    async get(key, options = {}) {
      const revision = options.revision ?? history.revision;
      assertKept(history, revision);
      return readEntry(history, key, revision);
    },
    async list(prefix, options = {}) {
      assertKept(history, options.revision ?? history.revision);
      return readListing(history, prefix, options);
    },
    async transact(transaction) {
      assertOpen(history);
      assertWritable(transaction.write);
      return queue.transact(transaction);
    },
    watch: (prefix, afterRevision, signal) =>
      watchHistory(history, { prefix, afterRevision, signal, wakeUp }),
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
      wakeUp.all();
      await queue.idle();
      await history.log.close();
    },
  };
}

/** A listener that throws has lost its place in the stream of events: that must not go unseen. */
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
