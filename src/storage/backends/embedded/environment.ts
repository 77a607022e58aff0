// The record log in an LMDB file. One LMDB transaction is one commit: LMDB writes the new pages, syncs
// them, then writes the page that makes them count, synced too; all in its own thread.
import { createRequire } from 'node:module';
import type { RootDatabase } from 'lmdb';
import type { Change, LogStep, Place, RecordLog } from '../../record-log.ts';
import type { StoreError } from '../../store-error.ts';
import { assertFree, assertRoom, commitFailure } from './disk-room.ts';
import { damagedRecord } from './file-error.ts';
import {
  encodeHeader,
  formatVersion,
  headerKey,
  isAt,
  isRecord,
  readRecord,
  readRecordKey,
  recordKeyLength,
  recordLength,
  valueStart,
  writeRecord,
  writeRecordKey,
} from './format.ts';

export type Environment = RootDatabase<Buffer, Buffer>;

/** Address space, not memory; LMDB takes more by itself when the file outgrows it. */
const addressSpace = 4 * 2 ** 30;

/**
 * After a full disk the next commits first look for room, because lmdb complains on standard error each
 * time it finds none; but not for ever, because a commit may fit into pages of the file that are free.
 */
const lookFirstMs = 5_000;

export function openEnvironment(file: string): Environment {
  // Its CommonJS form loads in two thirds of the time of its ES modules, and this is part of every start.
  const lmdb: typeof import('lmdb') = createRequire(import.meta.url)('lmdb');
  const options = {
    path: file,
    noSubdir: true,
    encoding: 'binary',
    keyEncoding: 'binary',
    mapSize: addressSpace,
    // With overlapping syncs a commit counts before it is on the disk: we wait for the disk instead.
    overlappingSync: false,
    // Each commit of ours is one batch of theirs; theirs are not to be merged.
    eventTurnBatching: false,
    permissionsMode: 0o600,
  } as const;
  return lmdb.open<Buffer, Buffer>(options);
}

export function createFileLog(environment: Environment, file: string): RecordLog {
  const recordKey = Buffer.alloc(recordKeyLength);
  let lookFirstUntil = 0;
  let broken: StoreError | undefined;
  /** What the last commit needed that was refused for want of room; 0 when there is room. */
  let lackedBytes = 0;
  let checking: Promise<void> | undefined;

  const commit = async (step: LogStep): Promise<void> => {
    if (broken !== undefined) throw broken;
    try {
      assertFree(file, roomFor(step));
      if (performance.now() < lookFirstUntil) await assertRoom(file, roomFor(step));
    } catch (error) {
      lackedBytes = roomFor(step);
      throw error;
    }
    try {
      await write(environment, step);
      lookFirstUntil = 0;
      lackedBytes = 0;
    } catch (error) {
      const failure = await commitFailure(error, file, roomFor(step));
      if (failure.reason !== 'full' || !isReadable(environment)) broken = failure;
      lookFirstUntil = performance.now() + lookFirstMs;
      lackedBytes = failure.reason === 'full' ? roomFor(step) : 0;
      throw failure;
    }
  };
  const findRoom = async (): Promise<void> => {
    assertFree(file, lackedBytes);
    await assertRoom(file, lackedBytes, 'check');
    lackedBytes = 0;
  };
  const checkWrites = async (): Promise<void> => {
    if (broken !== undefined) throw broken;
    if (lackedBytes === 0) return;
    checking ??= findRoom().finally(() => {
      checking = undefined;
    });
    await checking;
  };
  return {
    commit,
    checkWrites,
    readValue(place) {
      const bytes = environment.getBinaryFast(writeRecordKey(place, recordKey));
      return takeValue(bytes, place, file);
    },
    readAfter(revision, upTo, wanted) {
      const changes: Change[] = [];
      const start = writeRecordKey({ revision: revision + 1, position: 0 }, Buffer.alloc(10));
      const end = writeRecordKey({ revision: upTo + 1, position: 0 }, Buffer.alloc(10));
      for (const { key, value } of environment.getRange({ start, end })) {
        const bytes = takeValue(value, readRecordKey(key), file);
        changes.push(readRecord(value, 0, bytes));
        if (changes.length >= wanted && changes.at(-1)?.isLast) break;
      }
      return changes;
    },
    close: () => environment.close(),
  };
}

/** Rejects when nothing of the step happened. */
async function write(environment: Environment, step: LogStep): Promise<void> {
  const recordKey = Buffer.alloc(recordKeyLength);
  let length = 0;
  for (const change of step.add) length += recordLength(change);
  // One allocation for all, which LMDB's thread reads while the commit is under way.
  const space = Buffer.allocUnsafeSlow(length);
  let start = 0;
  await environment.batch(() => {
    for (const change of step.add) {
      const bytes = space.subarray(start, start + recordLength(change));
      start += bytes.length;
      writeRecord(change, bytes);
      void environment.put(writeRecordKey(change, recordKey), bytes);
    }
    for (const place of step.remove) void environment.remove(writeRecordKey(place, recordKey));
    if (step.compacted !== undefined) {
      const header = encodeHeader({ format: formatVersion, compacted: step.compacted });
      void environment.put(headerKey, header);
    }
  });
}

/**
 * More than a commit can need. LMDB writes whole pages, those above them in the tree, and the list of
 * the pages they replace.
 */
function roomFor({ add, remove }: LogStep): number {
  let bytes = 1 << 20;
  for (const change of add) bytes += 2 * recordLength(change) + 8_192;
  return bytes + remove.length * 8_192;
}

/** LMDB refuses everything after it failed to write the page that makes a commit count. */
function isReadable(environment: Environment): boolean {
  try {
    return environment.get(headerKey) !== undefined;
  } catch {
    return false;
  }
}

/** Copies the value out of a record, whose memory LMDB uses again at the next read. */
function takeValue(record: Buffer | undefined, place: Place, file: string): Uint8Array {
  if (record === undefined || !isRecord(record, 0, record.length) || !isAt(record, place)) {
    throw damagedRecord(file, `${place.revision}/${place.position}`, record);
  }
  return Uint8Array.prototype.slice.call(record, valueStart(record, 0), record.length);
}
