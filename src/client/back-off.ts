// Exponential back-off: the wait doubles with each failure in a row up to a limit; jitter keeps clients from retrying in step.

export type BackOffLimits = { readonly firstMs: number; readonly maxMs: number };

/** Returns the wait after the n-th failure, counted from 0. `random` in [0, 1) adds up to half of it as jitter. */
export function backOffMs({ firstMs, maxMs }: BackOffLimits, failures: number, random = 0): number {
  // Keeps the power finite; the limit is reached long before 2^40.
  const wait = Math.min(firstMs * 2 ** Math.min(failures, 40), maxMs);
  return wait * (1 + random / 2);
}
