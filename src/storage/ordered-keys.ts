// A set of keys in byte order, for listings that start anywhere. Blocks of sorted keys instead of
// a tree: an insert moves at most one block, and iterating is iterating an array.

/** Larger blocks make inserts slower, smaller ones the search for the block. */
const maxBlockKeys = 512;

export type OrderedKeys = {
  add(key: string): void;
  delete(key: string): void;
  /** Keys at or after this one, in byte order. The set must not change during the iteration. */
  from(key: string): IterableIterator<string>;
};

/** More new keys than this are sorted in together with the others, not inserted one by one. */
const maxSingleInserts = 256;

export function createOrderedKeys(keys: Iterable<string> = []): OrderedKeys {
  let blocks = splitIntoBlocks(sortKeys([...keys]));
  // Not sorted yet: writers append here, and the next iteration merges them into the blocks.
  const added = new Set<string>();

  function mergeAdded(): void {
    if (added.size > maxSingleInserts) {
      // A key may be present already: it is added again when it is recreated before compaction.
      blocks = splitIntoBlocks(sortKeys([...new Set([...blocks.flat(), ...added])]));
    } else for (const key of added) insert(blocks, key);
    added.clear();
  }

  return {
    add: (key) => void added.add(key),
    delete(key) {
      added.delete(key);
      remove(blocks, key);
    },
    *from(key) {
      if (added.size > 0) mergeAdded();
      const first = blockFor(blocks, key);
      for (let at = first; at < blocks.length; at++) {
        const block = blocks[at] ?? [];
        const start = at === first ? firstNotBefore(block, key) : 0;
        for (let index = start; index < block.length; index++) yield block[index] ?? '';
      }
    },
  };
}

function insert(blocks: string[][], key: string): void {
  const at = blockFor(blocks, key);
  const block = blocks[at];
  if (block === undefined) {
    blocks.push([key]);
    return;
  }
  const index = firstNotBefore(block, key);
  if (block[index] === key) return;
  block.splice(index, 0, key);
  if (block.length > maxBlockKeys) blocks.splice(at + 1, 0, block.splice(maxBlockKeys >> 1));
}

function remove(blocks: string[][], key: string): void {
  const at = blockFor(blocks, key);
  const block = blocks[at];
  const index = block === undefined ? 0 : firstNotBefore(block, key);
  if (block === undefined || block[index] !== key) return;
  block.splice(index, 1);
  if (block.length === 0) blocks.splice(at, 1);
}

/**
 * The order of the keys' UTF-8 bytes. JavaScript compares UTF-16 units, which differs only where a
 * surrogate pair (a character beyond U+FFFF) meets a character from U+E000 on.
 */
export function compareKeys(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let index = 0; index < shorter; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    const isLeftPair = left >= 0xd800 && left < 0xe000;
    const isRightPair = right >= 0xd800 && right < 0xe000;
    return isLeftPair === isRightPair ? left - right : isLeftPair ? 1 : -1;
  }
  return a.length - b.length;
}

/** JavaScript's own order is several times faster and mostly the same. */
function sortKeys(keys: string[]): string[] {
  const differs = keys.some((key) => /[\ud800-\udfff]/.test(key));
  return differs ? keys.sort(compareKeys) : keys.sort();
}

function splitIntoBlocks(sorted: readonly string[]): string[][] {
  const size = maxBlockKeys >> 1;
  const blocks: string[][] = [];
  for (let start = 0; start < sorted.length; start += size) {
    blocks.push(sorted.slice(start, start + size));
  }
  return blocks;
}

/** The last block that starts at or before the key: where the key is, or belongs. */
function blockFor(blocks: readonly string[][], key: string): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareKeys(blocks[middle]?.[0] ?? '', key) <= 0) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

function firstNotBefore(block: readonly string[], key: string): number {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareKeys(block[middle] ?? '', key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
