// Why a store refuses, as a closed set of reasons.

export type StoreErrorReason =
  | 'compacted' // the requested revision is no longer retained
  | 'future' // the requested revision is not reached yet
  | 'full' // no space to write; reads work
  | 'large' // more than the backend accepts in one transaction
  | 'closed' // the store was closed
  | 'locked' // another process has the directory
  | 'damaged' // the file is not what this store wrote
  | 'foreign' // the file is another program's, or of a newer version
  | 'unavailable'; // the backend cannot be reached; try again

export class StoreError extends Error {
  readonly reason: StoreErrorReason;
  constructor(reason: StoreErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StoreError';
    this.reason = reason;
  }
}

export function isStoreError(error: unknown, reason?: StoreErrorReason): error is StoreError {
  return error instanceof StoreError && (reason === undefined || error.reason === reason);
}
