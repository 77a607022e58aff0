// How long to wait after failures in a row: doubling up to a limit, spread out so that clients do not come in step.

export type BackOffLimits = { readonly firstMs: number; readonly maxMs: number };

/** The n-th wait, counted from 0. `random` in [0, 1) adds up to half of it. */
export function backOffMs({ firstMs, maxMs }: BackOffLimits, failures: number, random = 0): number {
  // Past 2^40 the limit has long been reached; this keeps the power finite.
  const wait = Math.min(firstMs * 2 ** Math.min(failures, 40), maxMs);
  return wait * (1 + random / 2);
}
