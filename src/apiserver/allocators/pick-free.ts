// Picks a free number: from the dynamic (upper) band at a random position, so that the static (lower) band stays free for
// numbers that users request, and from the static band only when the dynamic one is full.

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
   * Picked by writes in flight, and so probably no longer free; the picked number is added. Without it, concurrent writes
   * in a nearly full range would pick the same number, and all but one would have to retry.
   */
  readonly pending: Set<bigint>;
  /** A whole number from 0 up to, but not, the given one. */
  readonly random: (below: number) => number;
};

export function pickFree({ bands, firstFree, pending, random }: PickOptions): bigint | undefined {
  const notPending = (from: bigint, to: bigint): bigint | undefined => {
    let found = firstFree(from, to);
    while (found !== undefined && pending.has(found)) found = firstFree(found + 1n, to);
    return found;
  };
  const picked =
    (pending.size === 0 ? undefined : pick({ bands, firstFree: notPending, random })) ??
    pick({ bands, firstFree, random });
  if (picked !== undefined) pending.add(picked);
  return picked;
}

type Search = Omit<PickOptions, 'pending'>;

function pick({ bands, firstFree, random }: Search): bigint | undefined {
  const { first, upper, last } = bands;
  return scan(upper, last, { firstFree, random }) ?? scan(first, upper - 1n, { firstFree, random });
}

/** The limit of crypto.randomInt(); in larger ranges, the start lies in the first so many. */
const widestChoice = 2 ** 47;

/** From a random position upward, then from the beginning to that position. */
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

/** The size of the lower band: a share of all numbers, within limits; 0 in small ranges. */
export function lowerBandSize(
  size: bigint,
  { share, min, max }: { readonly share: bigint; readonly min: bigint; readonly max: bigint },
): bigint {
  if (size <= min) return 0n;
  const part = size / share;
  if (part < min) return min;
  return part > max ? max : part;
}
