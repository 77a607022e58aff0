// The record log in an LMDB file. One LMDB transaction is one commit: LMDB writes the new pages, syncs
// them, then writes and syncs the meta page that makes them current; all in its own thread.
import { createRequire } from 'node:module';
import type { RootDatabase } from 'lmdb';
import type { Change, LogStep, RecordId, RecordLog } from '../../record-log.ts';
import type { StoreError } from '../../store-error.ts';
import { assertFreeSpace, commitFailure, probeSpace } from './disk-space.ts';
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

/** Address space, not memory; LMDB maps more when the file outgrows it. */
const addressSpace = 4 * 2 ** 30;

/**
 * After a full disk the next commits first probe for space, because lmdb writes to standard error each
 * time a write fails; only for a while, because a commit may fit into free pages of the file.
 */
const probeFirstMs = 5_000;

export function openEnvironment(file: string): Environment {
  // Its CommonJS form loads in two thirds of the time of its ES modules, and this is part of every start.
  const lmdb: typeof import('lmdb') = createRequire(import.meta.url)('lmdb');
  const options = {
    path: file,
    noSubdir: true,
    encoding: 'binary',
    keyEncoding: 'binary',
    mapSize: addressSpace,
    // With overlapping syncs a commit is acknowledged before it is on the disk.
    overlappingSync: false,
    // Each commit is one batch, which lmdb must not merge with the next.
    eventTurnBatching: false,
    permissionsMode: 0o600,
  } as const;
  return lmdb.open<Buffer, Buffer>(options);
}

export function createLmdbLog(environment: Environment, file: string): RecordLog {
  const recordKey = Buffer.alloc(recordKeyLength);
  let probeUntilMs = 0;
  let permanentFailure: StoreError | undefined;
  /** The bytes that the last refused commit needed; 0 while there is space. */
  let missingBytes = 0;
  let checking: Promise<void> | undefined;

  const commit = async (step: LogStep): Promise<void> => {
    if (permanentFailure !== undefined) throw permanentFailure;
    const lengths = step.add.map(recordLength);
    const bytes = bytesNeeded(lengths, step);
    try {
      assertFreeSpace(file, bytes);
      if (performance.now() < probeUntilMs) await probeSpace(file, bytes);
    } catch (error) {
      missingBytes = bytes;
      throw error;
    }
    try {
      await write(environment, step, lengths);
      probeUntilMs = 0;
      missingBytes = 0;
    } catch (error) {
      const failure = await commitFailure(error, file, bytes);
      if (failure.reason !== 'full' || !isReadable(environment)) permanentFailure = failure;
      probeUntilMs = performance.now() + probeFirstMs;
      missingBytes = failure.reason === 'full' ? bytes : 0;
      throw failure;
    }
  };
  const recheckSpace = async (): Promise<void> => {
    assertFreeSpace(file, missingBytes);
    await probeSpace(file, missingBytes, 'check');
    missingBytes = 0;
  };
  const checkWrites = async (): Promise<void> => {
    if (permanentFailure !== undefined) throw permanentFailure;
    if (missingBytes === 0) return;
    checking ??= recheckSpace().finally(() => {
      checking = undefined;
    });
    await checking;
  };
  return {
    commit,
    checkWrites,
    readValue(id) {
      const bytes = environment.getBinaryFast(writeRecordKey(id, recordKey));
      return copyValue(bytes, id, file);
    },
    readAfter(revision, upTo, wanted) {
      const changes: Change[] = [];
      const start = writeRecordKey({ revision: revision + 1, position: 0 }, Buffer.alloc(10));
      const end = writeRecordKey({ revision: upTo + 1, position: 0 }, Buffer.alloc(10));
      for (const { key, value } of environment.getRange({ start, end })) {
        const bytes = copyValue(value, readRecordKey(key), file);
        changes.push(readRecord(value, 0, bytes));
        if (changes.length >= wanted && changes.at(-1)?.isLast) break;
      }
      return changes;
    },
    close: () => environment.close(),
  };
}

/** Rejects when the step had no effect. */
async function write(
  environment: Environment,
  step: LogStep,
  lengths: readonly number[],
): Promise<void> {
  const recordKey = Buffer.alloc(recordKeyLength);
  const length = lengths.reduce((sum, one) => sum + one, 0);
  // One allocation for all records; LMDB's thread reads it during the commit.
  const space = Buffer.allocUnsafeSlow(length);
  let start = 0;
  await environment.batch(() => {
    for (const [at, change] of step.add.entries()) {
      const bytes = space.subarray(start, start + (lengths[at] ?? 0));
      start += bytes.length;
      writeRecord(change, bytes);
      void environment.put(writeRecordKey(change, recordKey), bytes);
    }
    for (const id of step.remove) void environment.remove(writeRecordKey(id, recordKey));
    if (step.compacted !== undefined) {
      const header = encodeHeader({ format: formatVersion, compacted: step.compacted });
      void environment.put(headerKey, header);
    }
  });
}

/**
 * An upper bound of what a commit needs, with records of these lengths. LMDB writes whole pages, their parents in the tree, and the list of
 * the pages they replace.
 */
function bytesNeeded(lengths: readonly number[], { remove }: LogStep): number {
  let bytes = 1 << 20;
  for (const length of lengths) bytes += 2 * length + 8_192;
  return bytes + remove.length * 8_192;
}

/** LMDB refuses every operation after a failed write of a meta page. */
function isReadable(environment: Environment): boolean {
  try {
    return environment.get(headerKey) !== undefined;
  } catch {
    // Whatever it throws, the environment is unusable.
    return false;
  }
}

/** Copies the value out of a record, whose memory LMDB reuses at the next read. */
function copyValue(record: Buffer | undefined, id: RecordId, file: string): Uint8Array {
  if (record === undefined || !isRecord(record, 0, record.length) || !isAt(record, id)) {
    throw damagedRecord(file, `${id.revision}/${id.position}`, record);
  }
  return Uint8Array.prototype.slice.call(record, valueStart(record, 0), record.length);
}
