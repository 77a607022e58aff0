// Changes on their way to the files: first as the caches hand them over, then as records, then as a frame that is being written.
import type { Change } from '../cache/resource-cache.ts';
import { type ChangeRecord, recordOf } from './change-records.ts';

/** By resource, oldest first. */
export type Records = ReadonlyMap<string, readonly ChangeRecord[]>;

export type NotedChange = {
  readonly resource: string;
  readonly change: Change;
  readonly timeMs: number;
};

export type RecordBuffer = {
  readonly add: (change: NotedChange) => void;
  readonly noteUser: (revision: number, user: string) => void;
  /** Turns so many changes into records; absent: all. */
  readonly encode: (count?: number) => void;
  /** Changes that are no records yet. */
  readonly pending: () => number;
  /** Of the records that are not being written, roughly. */
  readonly bytes: () => number;
  /** The records that are to be written; undefined while others are being written. */
  readonly take: () => Records | undefined;
  /** They are in a file. */
  readonly wrote: (records: Records) => void;
  /** All records of a resource. */
  readonly records: (resource: string) => readonly ChangeRecord[];
  readonly clear: () => void;
};

/** The line of a record, roughly. */
const recordOverhead = 100;

export function createRecordBuffer(): RecordBuffer {
  let pending: NotedChange[] = [];
  let recent = new Map<string, ChangeRecord[]>();
  let writing: Records | undefined;
  let bytes = 0;
  const users = new Map<number, string>();

  function encodeOne({ resource, change, timeMs }: NotedChange): void {
    const record = recordOf(change, { timeMs, user: users.get(change.revision) ?? '' });
    const list = recent.get(resource);
    if (list === undefined) recent.set(resource, [record]);
    else list.push(record);
    bytes += record.delta.length + recordOverhead;
  }

  /** A transaction may change several objects. */
  function forgetUsers(): void {
    const next = pending[0]?.change.revision ?? Number.POSITIVE_INFINITY;
    for (const revision of users.keys()) {
      if (revision >= next) return;
      users.delete(revision);
    }
  }

  return {
    add: (change) => void pending.push(change),
    noteUser: (revision, user) => void users.set(revision, user),
    encode(count = pending.length) {
      for (const change of pending.splice(0, count)) encodeOne(change);
      forgetUsers();
    },
    pending: () => pending.length,
    bytes: () => bytes,
    take() {
      if (writing !== undefined) return undefined;
      writing = recent;
      recent = new Map();
      bytes = 0;
      return writing;
    },
    wrote(records) {
      if (writing === records) writing = undefined;
    },
    records: (resource) => [...(writing?.get(resource) ?? []), ...(recent.get(resource) ?? [])],
    clear() {
      pending = [];
      recent = new Map();
      writing = undefined;
      bytes = 0;
    },
  };
}
