// Removes from two large forms what is equal in both, so that they can be compared as text in reasonable time.
import { deepEqual } from '../../schema/equality.ts';

type Json = { readonly [key: string]: unknown };

/** A struct prints all its fields, about twenty lines; anything else one line. */
const structWeight = 20;
/** Smaller forms, such as a pod of a hundred containers, are compared whole. */
const maxWeight = 4_000;
/** Differing items kept of each list. */
const maxItems = 3;

/** Both unchanged if small; otherwise only what differs, and of lists the first differing items. */
export function reducedChange<T extends object>(before: T, after: T): readonly [T, T] {
  if (weigh(before, maxWeight) + weigh(after, maxWeight) <= maxWeight) return [before, after];
  return onlyChanged(before, after) as readonly [T, T];
}

/** Stops counting at `max`. */
function weigh(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let weight = Array.isArray(value) ? 1 : structWeight;
  for (const key in value) {
    weight += weigh((value as Json)[key], max);
    if (weight > max) break;
  }
  return weight;
}

function onlyChanged(before: unknown, after: unknown): readonly [unknown, unknown] {
  if (Array.isArray(before) && Array.isArray(after)) return changedItems(before, after);
  if (!isJson(before) || !isJson(after)) return [before, after];
  const names = Object.keys({ ...before, ...after });
  const changed = names
    .filter((name) => !deepEqual(before[name], after[name]))
    .map((name) => [name, onlyChanged(before[name], after[name])] as const);
  const side = (index: 0 | 1) =>
    Object.fromEntries(
      changed.flatMap(([name, pair]) => (pair[index] === undefined ? [] : [[name, pair[index]]])),
    );
  return [side(0), side(1)];
}

function changedItems(
  before: readonly unknown[],
  after: readonly unknown[],
): readonly [readonly unknown[], readonly unknown[]] {
  const pairs: (readonly [unknown, unknown])[] = [];
  const length = Math.max(before.length, after.length);
  for (let index = 0; index < length && pairs.length < maxItems; index++) {
    if (deepEqual(before[index], after[index])) continue;
    pairs.push(onlyChanged(before[index], after[index]));
  }
  const side = (index: 0 | 1) =>
    pairs.map((pair) => pair[index]).filter((one) => one !== undefined);
  return [side(0), side(1)];
}

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null;
