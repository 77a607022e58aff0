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
  /** Checksum of the version after the change; 0 for a delete. */
  readonly check: number;
  /** Empty for a creation. */
  readonly delta: Buffer;
};

export type ChangeFacts = { readonly timeMs: number; readonly user: string };

const nothing = Buffer.alloc(0);

export function recordOf(change: Change, { timeMs, user }: ChangeFacts): ChangeRecord {
  const { type, revision, current, previous } = change;
  const after = type === 'DELETED' ? nothing : current.json;
  return {
    ...{ key: current.key, revision, timeMs, type, user },
    check: type === 'DELETED' ? 0 : crc32(after),
    delta: previous === undefined ? nothing : encodeDelta(previous.json, after),
  };
}

/** The version before the change; undefined before a creation. `broken`: the version after it is not the one that was recorded. */
export function versionBefore(
  { type, check, delta }: ChangeRecord,
  after: Buffer | undefined,
): Buffer | undefined | 'broken' {
  if (type === 'DELETED') return applyDelta(delta, nothing);
  if (after === undefined || crc32(after) !== check) return 'broken';
  return type === 'ADDED' ? undefined : applyDelta(delta, after);
}

type Head = readonly [
  key: string,
  revision: number,
  timeMs: number,
  type: ChangeType,
  user: string,
  check: number,
  deltaLength: number,
];

/** A line of JSON for each, followed by the delta. */
export function encodeRecords(records: readonly ChangeRecord[]): Buffer {
  return Buffer.concat(
    records.flatMap(({ key, revision, timeMs, type, user, check, delta }) => {
      const head: Head = [key, revision, timeMs, type, user, check, delta.length];
      return [Buffer.from(`${JSON.stringify(head)}\n`), delta];
    }),
  );
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
