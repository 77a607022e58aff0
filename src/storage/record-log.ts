// What keeps the changes: a list of them by revision, added to at the end and thinned out by
// compaction. An engine that has one of these has a Store (record-store.ts).

/** Where a change is kept. */
export type Place = {
  readonly revision: number;
  /** Its number among the writes of its transaction, from 0. */
  readonly position: number;
};

/** One write of one transaction, with all that must be known about it later. */
export type Change = Place & {
  readonly type: 'put' | 'delete';
  readonly key: string;
  /** Empty for a delete. */
  readonly value: Uint8Array;
  /** What the value was made from, as long as the change is in memory; see store.ts. */
  readonly origin: object | undefined;
  /** Revision at which the key came into being; for a delete, that of the key that went. */
  readonly createRevision: number;
  /** The value it replaced or deleted, if there was one. */
  readonly previous: Place | undefined;
  /** When the key goes by itself, in milliseconds since 1970. */
  readonly expiresAt: number | undefined;
  /** Whether the transaction ends with it: what tells a whole transaction from half of one. */
  readonly isLast: boolean;
};

/** What one commit does, all or nothing. */
export type LogStep = {
  readonly add: readonly Change[];
  readonly remove: readonly Place[];
  /** The new oldest readable revision, when the step compacts. */
  readonly compacted?: number;
};

export type RecordLog = {
  /** Resolves when the step is durable; rejects with a StoreError when nothing of it happened. */
  commit(step: LogStep): Promise<void>;
  /** Rejects with what a commit would be refused with, as far as that is known. */
  checkWrites?(): Promise<void>;
  /** The value of a change that is known to be kept. */
  readValue(place: Place): Uint8Array;
  /**
   * Changes after one revision and up to another, oldest first, as whole revisions. Stops after the
   * revision with which the wanted number is reached.
   */
  readAfter(revision: number, upTo: number, wanted: number): readonly Change[];
  close(): Promise<void>;
};
