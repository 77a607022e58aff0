// Parts connect to a server that has been restarted one after the other: until then they are missing, and not gone.
import type { Propagation } from './propagation.ts';
import { keyedParts, stateOf } from './state-of.ts';

/** Longer than parts wait, at most, before they connect again. */
const graceMs = 60_000;

/** `sinceFoundMs`: since when the server answers again; undefined where it always has. */
export function withExpectedParts(
  before: Propagation,
  after: Propagation,
  sinceFoundMs: number | undefined,
): Propagation {
  if (sinceFoundMs === undefined || sinceFoundMs > graceMs) return after;
  const is = keyedParts(after.parts);
  const missing = [...keyedParts(before.parts)].flatMap(([key, { kind, node }]) =>
    is.has(key)
      ? []
      : [{ kind, node, state: 'no-answer', reason: 'not connected to the server yet' } as const],
  );
  if (missing.length === 0) return after;
  const parts = [...after.parts, ...missing].sort((a, b) =>
    `${a.kind} ${a.node}` < `${b.kind} ${b.node}` ? -1 : 1,
  );
  return { ...after, parts, state: stateOf({ ...after, parts }) };
}
