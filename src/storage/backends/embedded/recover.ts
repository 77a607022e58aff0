// Reads a store file from end to end before it is used: every page, every record, every checksum. The result is the index of
// the store.
import { closeSync, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { firstRevision } from '../../history.ts';
import type { Change } from '../../record-log.ts';
import { createVersions, type Versions } from '../../versions.ts';
import { damaged, damagedRecord, foreign, notAFile } from './file-error.ts';
import {
  decodeHeader,
  formatVersion,
  type Header,
  headerKey,
  isRecord,
  readRecord,
  recordKeyLength,
} from './format.ts';
import { type Leaf, openPages, type PageFile } from './pages.ts';
import { PageError } from './read-pages.ts';

export type Recovered = {
  readonly versions: Versions;
  readonly revision: number;
  readonly compacted: number;
  readonly fileBytes: number;
  /** The size of the records alone. */
  readonly recordBytes: number;
};

/** Undefined when there is no file. A new store is renamed to its name when it is complete, so an empty file is a damaged one. */
export function recover(file: string): Recovered | undefined {
  const descriptor = openExisting(file);
  if (descriptor === undefined) return;
  try {
    const fileBytes = fstatSync(descriptor).size;
    if (fileBytes === 0) throw damaged(file, 'it is empty');
    if (isBlank(descriptor, fileBytes)) throw damaged(file, 'it holds nothing but zeros');
    const pages = openPages(descriptor, fileBytes);
    if (pages === 'foreign') throw foreign(file, 'it was not made by this program');
    const recovered = readRecords(file, pages);
    checkFreePages(pages);
    return { ...recovered, fileBytes };
  } catch (error) {
    if (error instanceof PageError) throw damaged(file, error.message);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function openExisting(file: string): number | undefined {
  try {
    // Not through a link, and not a FIFO, on which open would block.
    const found = lstatSync(file);
    if (!found.isFile()) throw foreign(file, notAFile(found));
    return openSync(file, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
}

/** After a power failure a file may have its length but not its content. */
function isBlank(descriptor: number, fileBytes: number): boolean {
  if (fileBytes > 2 * 65_536) return false;
  const bytes = Buffer.alloc(fileBytes);
  readSync(descriptor, bytes, 0, fileBytes, 0);
  return bytes.every((byte) => byte === 0);
}

function readRecords(file: string, pages: PageFile): Omit<Recovered, 'fileBytes'> {
  const versions = createVersions();
  let header: Header | undefined;
  let last: Change | undefined;
  let recordBytes = 0;
  pages.walk(pages.main, (leaf) => {
    if (header === undefined) {
      header = readHeader(file, leaf);
      return;
    }
    const change = readLeaf(file, leaf);
    if (!follows(last, change, header.compacted)) {
      const gap = `${last?.revision ?? header.compacted} and ${change.revision}`;
      throw damaged(file, `a change between revisions ${gap} is missing`);
    }
    versions.add(change);
    recordBytes += leaf.end - leaf.start;
    last = change;
  });
  return summary(file, { versions, header, last, recordBytes });
}

type Read = {
  readonly versions: Versions;
  readonly header: Header | undefined;
  readonly last: Change | undefined;
  readonly recordBytes: number;
};

function summary(file: string, { versions, header, last, recordBytes }: Read) {
  if (header === undefined) throw damaged(file, 'its header is missing');
  const { compacted } = header;
  if (last?.isLast === false && last.revision > compacted) {
    throw damaged(file, `the changes of revision ${last.revision} are not complete`);
  }
  const revision = Math.max(firstRevision, compacted, last?.revision ?? 0);
  return { versions, revision, compacted, recordBytes };
}

/** A record without its value, which is read when it is needed. */
function readLeaf(file: string, leaf: Leaf): Change {
  const { page, keyStart, keyEnd, values, start, end } = leaf;
  const isWhole = keyEnd - keyStart === recordKeyLength && isRecord(values, start, end);
  // The record repeats its key, so that the checksum covers that too.
  if (!isWhole || values.compare(page, keyStart, keyEnd, start + 4, start + 14) !== 0) {
    const id = page.toString('hex', keyStart, keyEnd);
    throw damagedRecord(file, id, values.subarray(start, end));
  }
  return readRecord(values, start, nothing);
}

const nothing = new Uint8Array(0);

function readHeader(file: string, { page, keyStart, keyEnd, values, start, end }: Leaf): Header {
  const isFirst = page.subarray(keyStart, keyEnd).equals(headerKey);
  const header = isFirst ? decodeHeader(values.subarray(start, end)) : 'foreign';
  if (header === 'foreign') throw foreign(file, 'it is the database of another program');
  if (header === 'damaged') throw damaged(file, 'its header does not fit its checksum');
  if (header.format === formatVersion) return header;
  throw foreign(
    file,
    `it has format ${header.format}, made by a newer version of this program; this one knows ${formatVersion}`,
  );
}

/** After the oldest readable revision every change of every revision must be present. */
function follows(last: Change | undefined, change: Change, compacted: number): boolean {
  if (change.revision <= compacted) return true;
  if (last !== undefined && last.revision === change.revision) {
    return change.position === last.position + 1 && !last.isLast;
  }
  const before = Math.max(last?.revision ?? 0, compacted);
  const isWhole = last === undefined || last.revision <= compacted || last.isLast;
  return change.position === 0 && change.revision === before + 1 && isWhole;
}

/**
 * No page may be both free and in use: LMDB would write over records. A free list is a count and that
 * many numbers: a page, or the negative length of a run and its first page, or 0 for nothing.
 */
function checkFreePages(pages: PageFile): void {
  pages.walk(pages.free, ({ values, start, end }) => {
    const length = Math.floor((end - start) / 8);
    const number = (index: number): number =>
      index < length ? Number(values.readBigInt64LE(start + 8 * index)) : Number.NaN;
    const count = number(0);
    if (!(count >= 0 && count < length)) throw new PageError('its free list is broken');
    // Claiming reads no page, so the list stays valid.
    for (let index = 1; index <= count; index++) {
      const entry = number(index);
      if (entry > 0) pages.claim(entry, 1);
      if (entry < 0) pages.claim(number(++index), -entry);
    }
  });
}
