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
  /** The lowest free number from one to another, both included. */
  readonly firstFree: (from: bigint, to: bigint) => bigint | undefined;
  /**
   * Picked for writes under way, and so probably no longer free; what is picked is added. Without it all who come at
   * once, where little is left, would pick the same number, and all but one would have to come again.
   */
  readonly handedOut: Set<bigint>;
  /** A whole number from 0 up to, but not, the given one. */
  readonly random: (below: number) => number;
};

export function pickFree({ bands, firstFree, handedOut, random }: PickOptions): bigint | undefined {
  const notHandedOut = (from: bigint, to: bigint): bigint | undefined => {
    let found = firstFree(from, to);
    while (found !== undefined && handedOut.has(found)) found = firstFree(found + 1n, to);
    return found;
  };
  const picked =
    (handedOut.size === 0 ? undefined : pick({ bands, firstFree: notHandedOut, random })) ??
    pick({ bands, firstFree, random });
  if (picked !== undefined) handedOut.add(picked);
  return picked;
}

type Search = Omit<PickOptions, 'handedOut'>;

function pick({ bands, firstFree, random }: Search): bigint | undefined {
  const { first, upper, last } = bands;
  return scan(upper, last, { firstFree, random }) ?? scan(first, upper - 1n, { firstFree, random });
}

/** What secure generators can choose from at once; the start need not lie anywhere in a larger range. */
const widestChoice = 2 ** 47;

/** From a random place upward, then from the beginning to that place. */
function scan(
  first: bigint,
  last: bigint,
  { firstFree, random }: Omit<Search, 'bands'>,
): bigint | undefined {
  if (first > last) return undefined;
  const size = last - first + 1n;
  const start = first + BigInt(random(Math.min(Number(size), widestChoice)));
  return firstFree(start, last) ?? firstFree(first, start - 1n);
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
