// The in-memory state of a store over a record log, and reads from it: values as of a revision, and the
// events of changes.
import { compareKeys } from './ordered-keys.ts';
import type { Change, RecordId, RecordLog } from './record-log.ts';
import type { Entry, Listing, ListOptions, StoreEvent } from './store.ts';
import { StoreError } from './store-error.ts';
import type { Versions } from './versions.ts';

/** The first revision of a new store. Not 0, which means "absent" in a comparison. */
export const firstRevision = 1;

/** The state of a store. Only the write queue changes it, and only after the commit is durable. */
export type History = {
  readonly log: RecordLog;
  readonly versions: Versions;
  revision: number;
  compacted: number;
  isClosed: boolean;
};

export function readEntry(history: History, key: string, revision: number): Entry | undefined {
  const version = history.versions.at(key, revision);
  return version && entryOf(history.log, key, version);
}

export function entryOf(
  log: RecordLog,
  key: string,
  version: RecordId & { readonly createRevision: number },
): Entry {
  const { revision, createRevision } = version;
  return { key, value: log.readValue(version), revision, createRevision };
}

export function readListing(history: History, prefix: string, options: ListOptions): Listing {
  const revision = options.revision ?? history.revision;
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const { after = '' } = options;
  const entries: Entry[] = [];
  for (const key of history.versions.keysFrom(compareKeys(after, prefix) > 0 ? after : prefix)) {
    if (!key.startsWith(prefix)) break;
    const version = key === after ? undefined : history.versions.at(key, revision);
    if (version === undefined) continue;
    if (entries.length >= limit) return { entries, revision, more: true };
    entries.push(entryOf(history.log, key, version));
  }
  return { entries, revision, more: false };
}

/** The change may be compacted before the event is consumed, so all values are read now. */
export function eventOf(log: RecordLog, change: Change): StoreEvent {
  const { key, previous, createRevision } = change;
  return withPrevious(change, previous && entryOf(log, key, { ...previous, createRevision }));
}

/** Of a change that was just committed, for listeners that consume it at once: the previous value is read on access. */
export function committedEventOf(log: RecordLog, change: Change): StoreEvent {
  return withPrevious(change, change.previous && new PreviousEntry(log, change, change.previous));
}

class PreviousEntry implements Entry {
  readonly key: string;
  readonly revision: number;
  readonly createRevision: number;
  readonly #log: RecordLog;
  readonly #id: RecordId;

  constructor(log: RecordLog, { key, createRevision }: Change, id: RecordId) {
    this.key = key;
    this.revision = id.revision;
    this.createRevision = createRevision;
    this.#log = log;
    this.#id = id;
  }

  get value(): Uint8Array {
    return this.#log.readValue(this.#id);
  }
}

function withPrevious(change: Change, previous: Entry | undefined): StoreEvent {
  const { type, key, revision, createRevision, value, origin } = change;
  // Spelled out: building the object from optional spreads takes many times as long.
  if (type === 'put' && origin !== undefined) {
    return previous === undefined
      ? { type, key, revision, value, origin, createRevision }
      : { type, key, revision, value, origin, createRevision, previous };
  }
  if (type === 'put') {
    return previous === undefined
      ? { type, key, revision, value, createRevision }
      : { type, key, revision, value, createRevision, previous };
  }
  return previous === undefined
    ? { type, key, revision, createRevision }
    : { type, key, revision, createRevision, previous };
}

export function assertOpen(history: History): void {
  if (history.isClosed) throw new StoreError('closed', 'Cannot use the store: it was closed');
}

/** Throws unless the store can be read at the revision, and watched from it. */
export function assertRetained(history: History, revision: number): void {
  assertOpen(history);
  if (revision < history.compacted) {
    throw new StoreError(
      'compacted',
      `Cannot read revision ${revision}: the store retains revisions from ${history.compacted} on`,
    );
  }
  assertReached(history, revision);
}

export function assertReached(history: History, revision: number): void {
  if (revision > history.revision) {
    throw new StoreError(
      'future',
      `Cannot read revision ${revision}: the store has reached revision ${history.revision}`,
    );
  }
}
