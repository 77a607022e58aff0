// The bytes of the store file's records: a header, and one record for each retained change.
import { crc32 } from 'node:zlib';
import type { Change, RecordId } from '../../record-log.ts';

/** Incremented when earlier versions of this program can no longer read the file. */
export const formatVersion = 1;

const magic = Buffer.from('fairlead store\0\0', 'latin1');

/** Sorts before every record's key. */
export const headerKey = Buffer.from([0]);

export type Header = { readonly format: number; readonly compacted: number };

// Header: checksum 4, magic 16, format 4, oldest readable revision 8.
const headerLength = 32;

export function encodeHeader({ format, compacted }: Header): Buffer {
  const bytes = Buffer.alloc(headerLength);
  magic.copy(bytes, 4);
  bytes.writeUInt32BE(format, 20);
  writeRevision(bytes, compacted, 24);
  bytes.writeUInt32BE(crc32(bytes.subarray(4)), 0);
  return bytes;
}

/** 'foreign': another program's. 'damaged': this program's, with a wrong checksum. */
export function decodeHeader(bytes: Buffer): Header | 'foreign' | 'damaged' {
  if (bytes.length < 24 || !bytes.subarray(4, 20).equals(magic)) return 'foreign';
  const format = bytes.readUInt32BE(20);
  if (format !== formatVersion) return { format, compacted: 0 };
  if (bytes.length !== headerLength) return 'damaged';
  if (crc32(bytes.subarray(4)) !== bytes.readUInt32BE(0)) return 'damaged';
  return { format, compacted: readRevision(bytes, 24) };
}

// Record key: revision 8, position 2; so the order of the keys is the order of the changes.
export const recordKeyLength = 10;

export function writeRecordKey({ revision, position }: RecordId, key: Buffer): Buffer {
  writeRevision(key, revision, 0);
  key.writeUInt16BE(position, 8);
  return key;
}

export function readRecordKey(key: Buffer): RecordId {
  return { revision: readRevision(key, 0), position: key.readUInt16BE(8) };
}

// Record: checksum 4 (of all that follows), revision 8, position 2, flags 1, created 8, previous 10,
// expires 8, key length 2, key, value. The record repeats its key, so that the checksum covers it.
const recordHead = 43;
const flags = { isDelete: 1, isLast: 2, hasPrevious: 4, expires: 8 } as const;

export function recordLength(change: Change): number {
  return recordHead + Buffer.byteLength(change.key) + change.value.length;
}

/** Writes the record into the buffer, which has exactly its length. */
export function writeRecord(change: Change, bytes: Buffer): void {
  const { type, isLast, createRevision, previous, expiresAt } = change;
  writeRevision(bytes, change.revision, 4);
  bytes.writeUInt16BE(change.position, 12);
  bytes[14] =
    (type === 'delete' ? flags.isDelete : 0) |
    (isLast ? flags.isLast : 0) |
    (previous ? flags.hasPrevious : 0) |
    (expiresAt === undefined ? 0 : flags.expires);
  writeRevision(bytes, createRevision, 15);
  writeRevision(bytes, previous?.revision ?? 0, 23);
  bytes.writeUInt16BE(previous?.position ?? 0, 31);
  writeRevision(bytes, expiresAt ?? 0, 33);
  const keyBytes = bytes.write(change.key, recordHead);
  bytes.writeUInt16BE(keyBytes, 41);
  bytes.set(change.value, recordHead + keyBytes);
  bytes.writeUInt32BE(crc32(bytes.subarray(4)), 0);
}

/** Whether the bytes from start to end are an intact record. */
export function isRecord(bytes: Buffer, start: number, end: number): boolean {
  if (end - start < recordHead) return false;
  return crc32(bytes.subarray(start + 4, end)) === bytes.readUInt32BE(start);
}

/** Whether a record has that id. */
export function isAt(bytes: Buffer, { revision, position }: RecordId): boolean {
  return readRevision(bytes, 4) === revision && bytes.readUInt16BE(12) === position;
}

/** The offset of the value in the record that starts at `start`. */
export function valueStart(bytes: Buffer, start: number): number {
  return start + recordHead + bytes.readUInt16BE(start + 41);
}

/** The record that starts at `start`, with the value that the caller has read, or an empty one. */
export function readRecord(bytes: Buffer, start: number, value: Uint8Array): Change {
  const set = bytes[start + 14] ?? 0;
  const hasPrevious = (set & flags.hasPrevious) !== 0;
  return {
    revision: readRevision(bytes, start + 4),
    position: bytes.readUInt16BE(start + 12),
    type: (set & flags.isDelete) !== 0 ? 'delete' : 'put',
    key: bytes.toString('utf8', start + recordHead, valueStart(bytes, start)),
    value,
    origin: undefined,
    createRevision: readRevision(bytes, start + 15),
    previous: hasPrevious
      ? { revision: readRevision(bytes, start + 23), position: bytes.readUInt16BE(start + 31) }
      : undefined,
    expiresAt: (set & flags.expires) !== 0 ? readRevision(bytes, start + 33) : undefined,
    isLast: (set & flags.isLast) !== 0,
  };
}

/** The key in a record that may be damaged, to name it in a message. */
export function guessKey(bytes: Buffer): string {
  if (bytes.length < recordHead) return '';
  return bytes.toString('utf8', recordHead, Math.min(valueStart(bytes, 0), recordHead + 300));
}

// Eight bytes, of which JavaScript's numbers use the lower 53 bits.
function writeRevision(bytes: Buffer, revision: number, offset: number): void {
  bytes.writeUInt32BE(Math.floor(revision / 2 ** 32), offset);
  bytes.writeUInt32BE(revision % 2 ** 32, offset + 4);
}

function readRevision(bytes: Buffer, offset: number): number {
  return bytes.readUInt32BE(offset) * 2 ** 32 + bytes.readUInt32BE(offset + 4);
}
