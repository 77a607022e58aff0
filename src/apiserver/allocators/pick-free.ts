// Choosing a free number: from the upper band at a random place, so that the lower band stays for those who ask
// for a number of their own, and from the lower band only when the upper is full.

export type Bands = {
  readonly first: bigint;
  /** First of the upper band. */
  readonly upper: bigint;
  readonly last: bigint;
};

export type PickOptions = {
  readonly bands: Bands;
  readonly isFree: (number: bigint) => boolean;
  /** A whole number from 0 up to, but not, the given one. */
  readonly random: (below: number) => number;
};

export function pickFree({ bands, isFree, random }: PickOptions): bigint | undefined {
  const { first, upper, last } = bands;
  return scan(upper, last, { isFree, random }) ?? scan(first, upper - 1n, { isFree, random });
}

/** What secure generators can choose from at once; the start need not lie anywhere in a larger range. */
const widestChoice = 2 ** 47;

/** From a random place upward, then from the beginning to that place. */
function scan(
  first: bigint,
  last: bigint,
  { isFree, random }: Omit<PickOptions, 'bands'>,
): bigint | undefined {
  if (first > last) return undefined;
  const size = last - first + 1n;
  const start = first + BigInt(random(Math.min(Number(size), widestChoice)));
  return firstFree(start, last, isFree) ?? firstFree(first, start - 1n, isFree);
}

function firstFree(
  from: bigint,
  to: bigint,
  isFree: (number: bigint) => boolean,
): bigint | undefined {
  for (let number = from; number <= to; number += 1n) {
    if (isFree(number)) return number;
  }
  return undefined;
}

/** How many numbers the lower band has: a share of all, within limits, and none where all are few. */
export function lowerBandSize(
  size: bigint,
  { share, least, most }: { readonly share: bigint; readonly least: bigint; readonly most: bigint },
): bigint {
  if (size <= least) return 0n;
  const part = size / share;
  if (part < least) return least;
  return part > most ? most : part;
}
