// The changes of objects as history stores them: what changed when and by whom, and the previous version as a delta to the one after it.
// So the versions of an object are read backwards from the live one, and the oldest changes can be dropped without touching the others.
import { crc32 } from 'node:zlib';
import type { Change, ChangeType } from '../cache/resource-cache.ts';
import { applyDelta, encodeDelta } from './delta.ts';

export type ChangeRecord = {
  readonly key: string;
  readonly revision: number;
  /** Milliseconds since 1970 on the server's clock. */
  readonly timeMs: number;
  readonly type: ChangeType;
  /** Empty where it is unknown: another server wrote, or this one was restarted since. */
  readonly user: string;
  /** Checksum of the version after an update, to which the delta applies; otherwise 0. */
  readonly check: number;
  /** Empty for a creation. */
  readonly delta: Buffer;
};

export type ChangeFacts = { readonly timeMs: number; readonly user: string };

/** Encoded records: a line of JSON for each, followed by the delta. */
export type EncodedRecords = {
  readonly bytes: Buffer;
  /** Of the keys of the records. */
  readonly hashes: readonly number[];
};

export type RecordWriter = {
  readonly add: (change: Change, facts: ChangeFacts) => void;
  readonly length: () => number;
  readonly encoded: () => EncodedRecords;
};

type Head = readonly [
  key: string,
  revision: number,
  timeMs: number,
  type: ChangeType,
  user: string,
  check: number,
  deltaLength: number,
];

const firstBytes = 16 * 1024;
/** A character takes up to three bytes. */
const bytesPerCharacter = 3;

/** Appends to one buffer: every change passes here, and an object for each part of it would cost several times as much. */
export function createRecordWriter(): RecordWriter {
  let buffer = Buffer.allocUnsafeSlow(firstBytes);
  let length = 0;
  const hashes: number[] = [];

  function reserve(bytes: number): void {
    if (length + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (length + bytes));
    buffer.copy(larger, 0, 0, length);
    buffer = larger;
  }

  return {
    add({ type, revision, current, previous }, { timeMs, user }) {
      const after = type === 'DELETED' ? nothing : current.json;
      const delta = previous === undefined ? nothing : encodeDelta(previous.json, after);
      const check = type === 'MODIFIED' ? crc32(after) : 0;
      const head: Head = [current.key, revision, timeMs, type, user, check, delta.length];
      const line = `${JSON.stringify(head)}\n`;
      reserve(line.length * bytesPerCharacter + delta.length);
      length += buffer.write(line, length);
      length += delta.copy(buffer, length);
      hashes.push(hashOfKey(current.key));
    },
    length: () => length,
    encoded: () => ({ bytes: buffer.subarray(0, length), hashes }),
  };
}

const nothing = Buffer.alloc(0);

/** The version before the change; undefined before a creation. `broken`: the version after it is not the one that was recorded. */
export function versionBefore(
  { type, check, delta }: ChangeRecord,
  after: Buffer | undefined,
): Buffer | undefined | 'broken' {
  if (type === 'DELETED') return applyDelta(delta, nothing);
  if (after === undefined) return 'broken';
  if (type === 'ADDED') return undefined;
  return crc32(after) === check ? applyDelta(delta, after) : 'broken';
}

export function decodeRecords(bytes: Buffer): readonly ChangeRecord[] {
  const records: ChangeRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\n', at);
    if (end < 0) throw new RangeError('a record ends early');
    const head = JSON.parse(bytes.toString('utf8', at, end)) as Head;
    const [key, revision, timeMs, type, user, check, deltaLength] = head;
    at = end + 1 + deltaLength;
    const delta = bytes.subarray(end + 1, at);
    records.push({ key, revision, timeMs, type, user, check, delta });
  }
  return records;
}

/** For finding the records of a key without decoding all. */
export const hashOfKey = (key: string): number => crc32(key);
