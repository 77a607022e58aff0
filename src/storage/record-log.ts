// The log of changes by revision: appended to at the end, thinned out by compaction. A backend that implements it
// gets a Store from record-store.ts.

/** Identifies a change in the log. */
export type RecordId = {
  readonly revision: number;
  /** Its number among the writes of its transaction, from 0. */
  readonly position: number;
};

/** One write of one transaction, with all that is needed later. */
export type Change = RecordId & {
  readonly type: 'put' | 'delete';
  readonly key: string;
  /** Empty for a delete. */
  readonly value: Uint8Array;
  /** The object that the value encodes, while the change is in memory; see store.ts. */
  readonly origin: object | undefined;
  /** Revision at which the key was created; for a delete, that of the deleted key. */
  readonly createRevision: number;
  /** The value it replaced or deleted, if there was one. */
  readonly previous: RecordId | undefined;
  /** When the key expires, in milliseconds since 1970. */
  readonly expiresAt: number | undefined;
  /** Whether it is the last of its transaction: distinguishes a complete transaction from half of one. */
  readonly isLast: boolean;
};

/** What one commit does, all or nothing. */
export type LogStep = {
  readonly add: readonly Change[];
  readonly remove: readonly RecordId[];
  /** The new oldest readable revision, when the step compacts. */
  readonly compacted?: number;
};

export type RecordLog = {
  /** Resolves when the step is durable; rejects with a StoreError when it had no effect. */
  commit(step: LogStep): Promise<void>;
  /** Rejects with the error that a commit would get, as far as that is known. */
  checkWrites?(): Promise<void>;
  /** The value of a change that is known to be in the log. */
  readValue(id: RecordId): Uint8Array;
  /**
   * Changes after one revision and up to another, oldest first, as whole revisions. Stops after the
   * revision with which the wanted number is reached.
   */
  readAfter(revision: number, upTo: number, wanted: number): readonly Change[];
  close(): Promise<void>;
};
