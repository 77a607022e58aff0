// The contract of every storage engine: revisioned keys and values, one revision for the whole store.
// A revision counts transactions that wrote something; all writes of one transaction share its revision.
// A new store is at a revision above 0, since 0 means absent. Deleting what is not there writes nothing.

import type { Expiring } from './expiry.ts';

export type Entry = {
  readonly key: string;
  readonly value: Uint8Array;
  /** Revision of the write that made this value. */
  readonly revision: number;
  /** Revision at which the key came into being; a key deleted and made again has a new one. */
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
       * What the value was made from. Never stored: an engine may hand it to those who subscribe, who then need not
       * read the value. Not to be changed either.
       */
      readonly origin?: object;
      /** The key goes by itself after this time, with a delete like any other. */
      readonly ttlSeconds?: number;
    }
  | { readonly delete: string };

export type Transaction = {
  readonly compare: readonly Compare[];
  readonly write: readonly Write[];
};

/** What became of a transaction. A failed comparison changes nothing and names what it found instead. */
export type Outcome =
  | { readonly committed: true; readonly revision: number }
  | {
      readonly committed: false;
      readonly revision: number;
      readonly failed: readonly FailedCompare[];
    };

export type FailedCompare = Compare & {
  /** What was there instead. */
  readonly found: Entry | undefined;
};

/** One changed key. Events of one revision come together, in the order in which they were written. */
export type StoreEvent = {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly revision: number;
  /** The value after a put; absent for a delete. */
  readonly value?: Uint8Array;
  /** Of the put, for those who subscribe; absent where the engine does not know it. */
  readonly origin?: object;
  readonly createRevision: number;
  /** As of an Entry. */
  readonly unreadable?: string | undefined;
  /** What stood there before, if anything did and it is not yet compacted away. */
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

/** What those who subscribe hear besides events, of engines with other writers. */
export type StoreNotices = {
  /** Up to this revision nothing has changed besides what was heard. */
  readonly reached?: (revision: number) => void;
  /** Changes were compacted before they could be heard: what there is now, in place of them. */
  readonly missed?: (everything: Listing) => void;
};

export type Store = {
  /** Whether nobody else writes: then those who subscribe have seen everything that anyone was told of. */
  readonly isSoleWriter?: boolean;
  /**
   * Resolves when those who subscribe have heard everything that anyone was told of before the call; rejects with
   * StoreError unavailable when that takes too long. Absent where nobody else writes: there they always have.
   */
  readonly catchUp?: () => Promise<void>;
  /** A value now, or as of a revision. */
  get(key: string, options?: { readonly revision?: number }): Promise<Entry | undefined>;
  /** Keys that start with the prefix, in byte order. */
  list(prefix: string, options?: ListOptions): Promise<Listing>;
  /**
   * Compares and writes several keys at once; resolves when the outcome is durable. Rejects with a StoreError when
   * nothing of it happened (full), and with a TypeError when a key is written twice or is not 1 to 1,500 bytes long.
   */
  transact(transaction: Transaction): Promise<Outcome>;
  /**
   * Changes of keys with the prefix after a revision, oldest first, in batches of whole revisions; a batch is never empty.
   * Throws StoreError compacted when that revision is no longer kept, also when a watcher was too slow; future when it
   * is not reached. Ends when the signal aborts.
   */
  watch(
    prefix: string,
    afterRevision: number,
    signal: AbortSignal,
  ): AsyncIterable<readonly StoreEvent[]>;
  /**
   * Hands every committed batch to the listener before the transactions in it resolve, from the moment of the call.
   * The value of what an event replaced can be read until the next compaction.
   * Returns the function that ends it. What keeps a cache exactly in step without a queue between.
   */
  subscribe(listener: (events: readonly StoreEvent[]) => void, news?: StoreNotices): () => void;
  /**
   * Whether the value should be written again although it says the same, as after a change of keys. Absent where
   * nothing is encrypted.
   */
  isStale?(key: string): Promise<boolean>;
  /** The newest revision, read so that everything acknowledged by anyone before the call is included. */
  currentRevision(): Promise<number>;
  /** Rejects with the StoreError that a write would get now, as far as that is known without writing. */
  checkWrites(): Promise<void>;
  /** The keys that go by themselves, the revision of the write that said so, and when: for who copies a store. */
  expiring(): Promise<readonly Expiring[]>;
  /** The oldest revision that can still be read or watched from. */
  compactedRevision(): number;
  /** Forgets what is needed only for reading before this revision; at it, reading and watching still work. */
  compact(revision: number): Promise<void>;
  /** Finishes what was begun. Whatever is asked afterwards is refused, and watches end with StoreError closed. */
  close(): Promise<void>;
};
