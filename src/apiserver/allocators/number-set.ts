// A sparse bitmap of allocated numbers: bits in pages, so that full stretches are skipped a page or a word at a time.
// A range of 2^64 addresses takes only the memory of what is allocated.

export type NumberSet = {
  readonly add: (number: bigint) => void;
  readonly remove: (number: bigint) => void;
  readonly clear: () => void;
  /** The lowest number from one to another, both included, that is not in the set. */
  readonly firstGap: (from: bigint, to: bigint) => bigint | undefined;
};

const pageBits = 12n;
const pageSize = 1 << Number(pageBits);
const lastOfPage = pageSize - 1;
const wordBits = 32;
const fullWord = 0xffff_ffff;

type Page = { readonly words: Uint32Array; count: number };

export function createNumberSet(): NumberSet {
  const pages = new Map<bigint, Page>();

  function positionOf(number: bigint): { readonly key: bigint; readonly at: number } {
    return { key: number >> pageBits, at: Number(BigInt.asUintN(Number(pageBits), number)) };
  }

  return {
    add(number) {
      const { key, at } = positionOf(number);
      let page = pages.get(key);
      if (page === undefined) {
        page = { words: new Uint32Array(pageSize / wordBits), count: 0 };
        pages.set(key, page);
      }
      if (setBit(page.words, at, true)) page.count += 1;
    },
    remove(number) {
      const { key, at } = positionOf(number);
      const page = pages.get(key);
      if (page === undefined || !setBit(page.words, at, false)) return;
      page.count -= 1;
      if (page.count === 0) pages.delete(key);
    },
    clear: () => pages.clear(),
    firstGap(from, to) {
      const lastKey = to >> pageBits;
      let number = from;
      while (number <= to) {
        const { key, at } = positionOf(number);
        const page = pages.get(key);
        if (page === undefined) return number;
        const start = number - BigInt(at);
        const last = key === lastKey ? Number(to - start) : lastOfPage;
        const gap = page.count === pageSize ? -1 : gapIn(page.words, at, last);
        if (gap >= 0) return start + BigInt(gap);
        number = start + BigInt(pageSize);
      }
      return undefined;
    },
  };
}

/** Returns whether the bit has changed. */
function setBit(words: Uint32Array, at: number, isSet: boolean): boolean {
  const index = at >>> 5;
  const mask = 1 << (at & 31);
  const word = words[index] ?? 0;
  if (((word & mask) !== 0) === isSet) return false;
  words[index] = word ^ mask;
  return true;
}

function gapIn(words: Uint32Array, first: number, last: number): number {
  for (let index = first >>> 5; index <= last >>> 5; index += 1) {
    const word = words[index] ?? fullWord;
    if (word === fullWord) continue;
    const before = index === first >>> 5 ? (1 << (first & 31)) - 1 : 0;
    const free = ~(word | before);
    if (free === 0) continue;
    const found = index * wordBits + 31 - Math.clz32(free & -free);
    return found <= last ? found : -1;
  }
  return -1;
}
