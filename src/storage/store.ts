// The contract of every storage backend: revisioned keys and values, one revision for the whole store.
// A revision counts transactions that wrote something; all writes of one transaction share its revision.
// A new store is at a revision above 0, since 0 means absent. Deleting an absent key writes nothing.

import type { Expiring } from './expiry.ts';

export type Entry = {
  readonly key: string;
  readonly value: Uint8Array;
  /** Revision of the write that made this value. */
  readonly revision: number;
  /** Revision at which the key was created; a key that is deleted and created again has a new one. */
  readonly createRevision: number;
  /** Why the value cannot be read, where it is encrypted; `value` is then as it is stored. */
  readonly unreadable?: string | undefined;
};

/** Holds when the key is now as stated: at exactly that revision, or absent (0). */
export type Compare = { readonly key: string; readonly revision: number };

export type Write =
  | {
      readonly put: string;
      /** Not to be changed afterwards: it is read until the commit, and listeners get this very object. */
      readonly value: Uint8Array;
      /**
       * The object that the value encodes. Never stored: a backend may hand it to subscribers, which then need not
       * decode the value. Not to be changed either.
       */
      readonly origin?: object;
      /** The key expires after this time, with a delete like any other. */
      readonly ttlSeconds?: number;
    }
  | { readonly delete: string };

export type Transaction = {
  readonly compare: readonly Compare[];
  readonly write: readonly Write[];
};

/** The result of a transaction. A failed comparison changes nothing and reports what it found instead. */
export type Outcome =
  | { readonly committed: true; readonly revision: number }
  | {
      readonly committed: false;
      readonly revision: number;
      readonly failed: readonly FailedCompare[];
    };

export type FailedCompare = Compare & {
  /** The current entry; undefined: the key is absent. */
  readonly found: Entry | undefined;
};

/** One changed key. Events of one revision come together, in the order in which they were written. */
export type StoreEvent = {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly revision: number;
  /** The value after a put; absent for a delete. */
  readonly value?: Uint8Array;
  /** Of the put, for subscribers; absent where the backend does not have it. */
  readonly origin?: object;
  readonly createRevision: number;
  /** As of an Entry. */
  readonly unreadable?: string | undefined;
  /** The entry before, if there was one and it is not compacted yet. */
  readonly previous?: Entry;
};

export type ListOptions = {
  /** Read as of this revision; absent: now. Throws StoreError compacted or future. */
  readonly revision?: number;
  /** Only keys after this one. */
  readonly after?: string;
  readonly limit?: number;
};

export type Listing = {
  readonly entries: readonly Entry[];
  /** The revision that the listing shows. */
  readonly revision: number;
  /** Whether the limit cut the listing short. */
  readonly more: boolean;
};

/** What subscribers of a backend with other writers are notified of besides events. */
export type StoreNotices = {
  /** All changes up to this revision were delivered. */
  readonly reached?: (revision: number) => void;
  /** Changes were compacted before they could be delivered: a full listing in place of them. */
  readonly missed?: (everything: Listing) => void;
};

export type Store = {
  /** Whether there are no other writers: then subscribers have everything that was acknowledged. */
  readonly isSoleWriter?: boolean;
  /**
   * Resolves when subscribers have everything that was acknowledged to any client before the call; rejects with
   * StoreError unavailable when that takes too long. Absent without other writers: there they always have.
   */
  readonly catchUp?: () => Promise<void>;
  /** A value now, or as of a revision. */
  get(key: string, options?: { readonly revision?: number }): Promise<Entry | undefined>;
  /** Keys that start with the prefix, in byte order. */
  list(prefix: string, options?: ListOptions): Promise<Listing>;
  /**
   * Compares and writes several keys at once; resolves when the outcome is durable. Rejects with a StoreError when
   * it had no effect (full), and with a TypeError when a key is written twice or is not 1 to 1,500 bytes long.
   */
  transact(transaction: Transaction): Promise<Outcome>;
  /**
   * Changes of keys with the prefix after a revision, oldest first, in batches of whole revisions; a batch is never empty.
   * Throws StoreError compacted when that revision is no longer retained, also when a watcher was too slow; future when it
   * is not reached. Ends when the signal aborts.
   */
  watch(
    prefix: string,
    afterRevision: number,
    signal: AbortSignal,
  ): AsyncIterable<readonly StoreEvent[]>;
  /**
   * Hands every committed batch to the listener before the transactions in it resolve, from the moment of the call.
   * The previous value of an event can be read until the next compaction.
   * Returns the function that ends it. It keeps a cache exactly in step, without a queue in between.
   */
  subscribe(listener: (events: readonly StoreEvent[]) => void, notices?: StoreNotices): () => void;
  /**
   * Whether the value should be rewritten although it is unchanged, as after a rotation of encryption keys. Absent where
   * nothing is encrypted.
   */
  isStale?(key: string): Promise<boolean>;
  /** The newest revision, at least that of everything acknowledged to any client before the call. */
  currentRevision(): Promise<number>;
  /** Rejects with the StoreError that a write would get now, as far as that is known without writing. */
  checkWrites(): Promise<void>;
  /** The keys that expire, with the revision of their write and the time: for copying a store. */
  expiring(): Promise<readonly Expiring[]>;
  /** The oldest revision that can still be read or watched from. */
  compactedRevision(): number;
  /** Drops what is needed only for reads before this revision; reads at it and watches from it still work. */
  compact(revision: number): Promise<void>;
  /** Finishes what is under way. Later calls are refused, and watches end with StoreError closed. */
  close(): Promise<void>;
};
