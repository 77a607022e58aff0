// Changes on their way to the files: first as the caches hand them over, then as records, then as a frame that is being written.
import type { Change } from '../cache/resource-cache.ts';
import {
  type ChangeRecord,
  createRecordWriter,
  decodeRecords,
  type EncodedRecords,
  type RecordWriter,
} from './change-records.ts';

export type NotedChange = {
  readonly resource: string;
  readonly change: Change;
  readonly timeMs: number;
};

/** By resource. */
export type Batch = ReadonlyMap<string, EncodedRecords>;

export type RecordBuffer = {
  readonly add: (change: NotedChange) => void;
  readonly noteUser: (revision: number, user: string) => void;
  /** Turns so many changes into records; absent: all. */
  readonly encode: (count?: number) => void;
  /** Changes that are no records yet. */
  readonly pending: () => number;
  /** Of the records that are not being written. */
  readonly bytes: () => number;
  /** The records that are to be written; undefined while others are being written. */
  readonly take: () => Batch | undefined;
  /** They are in a file. */
  readonly wrote: (batch: Batch) => void;
  /** All records of a resource, oldest first. */
  readonly records: (resource: string) => readonly ChangeRecord[];
  readonly clear: () => void;
};

export function createRecordBuffer(): RecordBuffer {
  let pending: NotedChange[] = [];
  let writers = new Map<string, RecordWriter>();
  let writing: Batch | undefined;
  const users = new Map<number, string>();

  function writerOf(resource: string): RecordWriter {
    let writer = writers.get(resource);
    if (writer === undefined) {
      writer = createRecordWriter();
      writers.set(resource, writer);
    }
    return writer;
  }

  /** A transaction may change several objects. */
  function forgetUsers(): void {
    const next = pending[0]?.change.revision ?? Number.POSITIVE_INFINITY;
    for (const revision of users.keys()) {
      if (revision >= next) return;
      users.delete(revision);
    }
  }

  const bytes = (): number => {
    let sum = 0;
    for (const writer of writers.values()) sum += writer.length();
    return sum;
  };
  const decoded = (encoded: EncodedRecords | undefined): readonly ChangeRecord[] =>
    // A copy: readers outlive the buffer's state.
    encoded === undefined ? [] : decodeRecords(Buffer.from(encoded.bytes));

  return {
    add: (change) => void pending.push(change),
    noteUser: (revision, user) => void users.set(revision, user),
    encode(count = pending.length) {
      for (const { resource, change, timeMs } of pending.splice(0, count))
        writerOf(resource).add(change, { timeMs, user: users.get(change.revision) ?? '' });
      forgetUsers();
    },
    pending: () => pending.length,
    bytes,
    take() {
      if (writing !== undefined) return undefined;
      writing = new Map([...writers].map(([resource, writer]) => [resource, writer.encoded()]));
      writers = new Map();
      return writing;
    },
    wrote(batch) {
      if (writing === batch) writing = undefined;
    },
    records: (resource) => [
      ...decoded(writing?.get(resource)),
      ...decoded(writers.get(resource)?.encoded()),
    ],
    clear() {
      pending = [];
      writers = new Map();
      writing = undefined;
    },
  };
}
