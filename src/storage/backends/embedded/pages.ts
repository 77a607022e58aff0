// Reads the trees of an LMDB file without LMDB, checking every page. LMDB trusts its file: a page of
// garbage makes it read outside its memory or end the process, where a user needs an error that names the
// broken file. The layout is that of LMDB 0.9.90 (struct MDB_meta, MDB_page, MDB_node in its mdb.c) on a
// little-endian machine with 64 bits.
import { readSync } from 'node:fs';
import { createPageReader, PageError, type ReadPages } from './read-pages.ts';

export type PageFile = {
  readonly main: Tree;
  /** The lists of pages that are not in use. */
  readonly free: Tree;
  /** Visits the entries of a tree in the order of their keys. Throws a PageError at what cannot be right. */
  walk(tree: Tree, visit: (leaf: Leaf) => void): void;
  /** Marks pages as used; throws a PageError when one is in use already or does not exist. */
  claim(first: number, count: number): void;
};

export type Tree = {
  readonly flags: number;
  readonly depth: number;
  readonly entries: number;
  readonly root: number;
};

/**
 * An entry of a tree, as offsets into buffers that are valid during the visit: making views of them would
 * take longer than all the checks.
 */
export type Leaf = {
  readonly page: Buffer;
  readonly keyStart: number;
  readonly keyEnd: number;
  /** The buffer with the value: the page, or others when it is too long for one. */
  readonly values: Buffer;
  readonly start: number;
  readonly end: number;
};

const lmdbMagic = 0xbeefc0de;
const lmdbVersion = 2;
const header = 24;
const pageFlags = { branch: 1, leaf: 2, overflow: 4, meta: 8 } as const;
/** Set while a page is in memory, and sometimes written to the file. */
const transientFlags = 0xe000;
/** A node's flag: the value has pages of its own. */
const isBigData = 1;
const noPage = 0xffff_ffff_ffff_ffffn;
const maxDepth = 32;
/** The flags of a tree: how its keys are ordered and its values stored. */
const treeFlags = { main: 0, free: 8 } as const;

/** LMDB's own: the store is a file and not a directory with one. */
const isOneFile = 0x4000;

/** 'foreign' when the file does not begin as an LMDB file of this layout does. */
export function openPages(descriptor: number, fileSize: number): PageFile | 'foreign' {
  const first = readMeta(descriptor, 0);
  if (first === 'foreign' || first === undefined) return 'foreign';
  const second = readMeta(descriptor, first.pageSize);
  if (second === 'foreign' || second === undefined)
    throw new PageError('its second page is broken');
  checkTransactions(descriptor, [first, second]);
  const newest = second.transaction > first.transaction ? second : first;
  const { pageSize, lastPage, free, main, transaction } = newest;
  // Of both pages: LMDB keeps settings of its own in the upper bits, and some make it end the process.
  const isSet = [first, second].every(
    (meta) =>
      meta.main.flags === treeFlags.main && (meta.free.flags & ~isOneFile) === treeFlags.free,
  );
  if (!isSet) throw new PageError('its first page is broken');
  const filePages = Math.floor(fileSize / pageSize);
  // Free pages at the end may never have been written, but never many.
  if (lastPage > 2 * filePages + 65_536) throw new PageError('it is far too short');
  const used = new Uint8Array(lastPage + 1);
  const claim = (start: number, count: number): void => {
    if (!(start >= 2 && start + count - 1 <= lastPage)) {
      throw new PageError(`it refers to a page ${start}`);
    }
    for (let page = start; page < start + count; page++) {
      if (used[page] === 1) throw new PageError(`page ${page} is used twice`);
      used[page] = 1;
    }
  };
  const readPages = createPageReader(descriptor, pageSize, filePages);
  const walk = (tree: Tree, visit: (leaf: Leaf) => void): void => {
    const compare = tree === free ? compareIntegers : compareBytes;
    walkTree(tree, { readPages, claim, pageSize, compare, newest: transaction, visit });
  };
  return { main, free, claim, walk };
}

type Meta = {
  readonly pageSize: number;
  readonly lastPage: number;
  readonly transaction: bigint;
  readonly free: Tree;
  readonly main: Tree;
};

function readMeta(descriptor: number, offset: number): Meta | 'foreign' | undefined {
  const bytes = Buffer.alloc(header + 144);
  if (readSync(descriptor, bytes, 0, bytes.length, offset) < bytes.length) return;
  const meta = bytes.subarray(header);
  const isMeta = (bytes.readUInt16LE(18) & pageFlags.meta) !== 0;
  if (!isMeta || meta.readUInt32LE(0) !== lmdbMagic) return 'foreign';
  if ((meta.readUInt32LE(4) & 0xffff) !== lmdbVersion) return 'foreign';
  const pageSize = meta.readUInt32LE(24);
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) return;
  return {
    pageSize,
    lastPage: Number(meta.readBigUInt64LE(120)),
    transaction: meta.readBigUInt64LE(128),
    free: readTree(meta.subarray(24)),
    main: readTree(meta.subarray(72)),
  };
}

/**
 * The two meta pages, which say where the trees begin, are written alternately, each by every second transaction, and each transaction
 * of the store writes a new root. Without this, a change of one number would show the state before the last commit as if nothing were wrong.
 */
function checkTransactions(descriptor: number, metas: readonly [Meta, Meta]): void {
  const [first, second] = metas;
  const distance = first.transaction - second.transaction;
  const isAlternating = first.transaction % 2n === 0n && (distance === 1n || distance === -1n);
  if (isAlternating && metas.every((meta) => isRootOfTransaction(descriptor, meta))) return;
  throw new PageError('the numbers of its last transactions do not fit');
}

function isRootOfTransaction(descriptor: number, { main, pageSize, transaction }: Meta): boolean {
  // As a new file has it.
  if (main.root === -1) return transaction === 0n;
  const bytes = Buffer.alloc(16);
  const position = main.root * pageSize;
  const isThere =
    Number.isSafeInteger(position) && readSync(descriptor, bytes, 0, 16, position) === 16;
  if (!isThere) throw new PageError(`it ends before page ${main.root}`);
  return bytes.readBigUInt64LE(8) === transaction;
}

/** struct MDB_db: pad 4, flags 2, depth 2, pages 8 + 8 + 8, entries 8, root 8. */
function readTree(bytes: Buffer): Tree {
  const root = bytes.readBigUInt64LE(40);
  return {
    flags: bytes.readUInt16LE(4),
    depth: bytes.readUInt16LE(6),
    entries: Number(bytes.readBigUInt64LE(32)),
    root: root === noPage ? -1 : Number(root),
  };
}

type Walk = {
  readonly readPages: ReadPages;
  readonly claim: (first: number, count: number) => void;
  readonly compare: (a: Key, b: Key) => number;
  readonly visit: (leaf: Leaf) => void;
  readonly pageSize: number;
  /** The last transaction of the file: no page has a later one. */
  readonly newest: bigint;
};

type Key = { readonly bytes: Buffer; readonly start: number; readonly end: number };

/** A page and what the branches above it say of its keys: from `low` on, and before `high`. */
type PageBounds = {
  readonly page: number;
  readonly depth: number;
  readonly low: Key | undefined;
  readonly high: Key | undefined;
};

function walkTree({ root, depth, entries }: Tree, walk: Walk): void {
  if (root === -1) return;
  if (depth < 1 || depth > maxDepth) throw new PageError('a tree has no sound depth');
  const found = walkPage({ page: root, depth, low: undefined, high: undefined }, walk);
  if (found !== entries) {
    throw new PageError(`it holds ${found} records where ${entries} are announced`);
  }
}

/** The number of entries in the page and below. */
function walkPage(bounds: PageBounds, walk: Walk): number {
  const { page, depth, high } = bounds;
  walk.claim(page, 1);
  const read = walk.readPages(page, 1);
  const nodes = nodesOf(read, bounds, walk);
  const readsOthers = depth > 1 || nodes.some((node) => read.readUInt16LE(node + 4) === isBigData);
  // Reading other pages overwrites the reader's memory.
  const bytes = readsOthers ? Buffer.from(read) : read;
  let entries = 0;
  // The first key of a branch is not stored: the branch above has it.
  let key = depth > 1 ? bounds.low : keyOf(bytes, nodes[0] ?? 0, page);
  if (!isOrdered(bounds.low, key, walk)) throw disorder(page);
  for (const [index, node] of nodes.entries()) {
    const nextNode = nodes[index + 1];
    const next = nextNode === undefined ? high : keyOf(bytes, nextNode, page);
    if (key !== undefined && next !== undefined && walk.compare(key, next) >= 0)
      throw disorder(page);
    const below = { page: bytes.readUIntLE(node, 6), depth: depth - 1, low: key, high: next };
    if (depth > 1) entries += walkPage(below, walk);
    else visitLeaf(bytes, node, page, walk);
    key = next;
  }
  return depth > 1 ? entries : nodes.length;
}

function isOrdered(a: Key | undefined, b: Key | undefined, { compare }: Walk): boolean {
  return a === undefined || b === undefined || compare(a, b) <= 0;
}

/** Where the page's nodes are. Throws a PageError unless the page is sound. */
function nodesOf(bytes: Buffer, { page, depth }: PageBounds, walk: Walk): readonly number[] {
  const flags = bytes.readUInt16LE(18) & ~transientFlags;
  const isExpected = flags === (depth > 1 ? pageFlags.branch : pageFlags.leaf);
  if (!isExpected || !isPage(bytes, page, walk)) throw misplaced(page);
  const lower = bytes.readUInt16LE(20);
  const upper = bytes.readUInt16LE(22);
  const isSound = lower <= upper && header + upper <= walk.pageSize && lower >= (depth > 1 ? 4 : 2);
  const nodes: number[] = [];
  for (let index = 0; isSound && index < lower >> 1; index++) {
    const node = bytes.readUInt16LE(header + 2 * index);
    if (node < upper || header + node + 8 > walk.pageSize) throw outside(page);
    nodes.push(header + node);
  }
  if (!isSound) throw outside(page);
  return nodes;
}

function isPage(bytes: Buffer, page: number, { newest }: Walk): boolean {
  return bytes.readBigUInt64LE(0) === BigInt(page) && bytes.readBigUInt64LE(8) <= newest;
}

/** A node: size 4, flags 2, key length 2, key, value. In a branch, size and flags are a page number. */
function keyOf(bytes: Buffer, node: number, page: number): Key {
  const end = node + 8 + bytes.readUInt16LE(node + 6);
  if (end > bytes.length) throw outside(page);
  return { bytes, start: node + 8, end };
}

function visitLeaf(bytes: Buffer, node: number, page: number, walk: Walk): void {
  const { start: keyStart, end: keyEnd } = keyOf(bytes, node, page);
  const size = bytes.readUInt32LE(node);
  const flags = bytes.readUInt16LE(node + 4);
  const end = keyEnd + (flags === isBigData ? 24 : size);
  if (flags > isBigData || end > walk.pageSize) throw outside(page);
  if (flags !== isBigData) {
    walk.visit({ page: bytes, keyStart, keyEnd, values: bytes, start: keyEnd, end });
    return;
  }
  const first = Number(bytes.readBigUInt64LE(keyEnd));
  const count = Number(bytes.readBigUInt64LE(keyEnd + 16));
  if (count !== Math.floor((header - 1 + size) / walk.pageSize) + 1) throw outside(page);
  walk.claim(first, count);
  const values = walk.readPages(first, count);
  const isOverflow = (values.readUInt16LE(18) & ~transientFlags) === pageFlags.overflow;
  if (!isOverflow || !isPage(values, first, walk) || values.readUInt32LE(20) !== count) {
    throw misplaced(first);
  }
  walk.visit({ page: bytes, keyStart, keyEnd, values, start: header, end: header + size });
}

function compareBytes(a: Key, b: Key): number {
  return a.bytes.compare(b.bytes, b.start, b.end, a.start, a.end);
}

/** The free list's keys are transaction numbers. */
function compareIntegers(a: Key, b: Key): number {
  if (a.end - a.start !== 8 || b.end - b.start !== 8)
    throw new PageError('its free list is broken');
  return Number(a.bytes.readBigUInt64LE(a.start) - b.bytes.readBigUInt64LE(b.start));
}

function misplaced(page: number): PageError {
  return new PageError(`page ${page} is not what its position in the file says`);
}

function outside(page: number): PageError {
  return new PageError(`page ${page} has a record outside itself`);
}

function disorder(page: number): PageError {
  return new PageError(`page ${page} has its records in disorder`);
}
