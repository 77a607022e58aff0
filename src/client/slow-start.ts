// How many requests of the same form are made at a time.

/** Sizes of the batches of creations, doubling from 1: a request that always fails, for example for quota, fails few times. */
export function slowStart(count: number): readonly number[] {
  const batches: number[] = [];
  for (let remaining = count, size = 1; remaining > 0; remaining -= size, size *= 2) {
    batches.push(Math.min(remaining, size));
  }
  return batches;
}
