// A seeded generator: a run that failed can be repeated by its seed.

export type Random = {
  /** A whole number from 0 up to, but not, the given one. */
  readonly below: (limit: number) => number;
  readonly pick: <T>(choices: readonly [T, ...T[]]) => T;
};

/** FAIRLEAD_SEED repeats a run. */
export function chooseSeed(): number {
  const given = process.env.FAIRLEAD_SEED;
  return given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
}

/** mulberry32: small, and good enough to mix operations. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return { below, pick: (choices) => choices[below(choices.length)] ?? choices[0] };
}
