// Small comparisons that the diffs are made of.
import type { Tags } from './names.ts';

/** What of the wanted is not in the other, in order. */
export function without<T>(wanted: readonly T[], other: readonly T[]): readonly T[] {
  const there = new Set(other);
  return wanted.filter((one) => !there.has(one));
}

export function sameMembers(a: readonly string[], b: readonly string[]): boolean {
  return without(a, b).length === 0 && without(b, a).length === 0;
}

/** Tags that are not there, or not with this value. Others are not ours to take away. */
export function missingTags(wanted: Tags, found: Tags): Tags | undefined {
  const missing = Object.entries(wanted).filter(([key, value]) => found[key] !== value);
  return missing.length === 0 ? undefined : Object.fromEntries(missing);
}

/** The same for attributes: one without a value may be there or not. */
export function missingAttributes(wanted: Tags, found: Tags): Tags | undefined {
  const missing = Object.entries(wanted).filter(([key, value]) => (found[key] ?? '') !== value);
  return missing.length === 0 ? undefined : Object.fromEntries(missing);
}

/** AWS changes the case of some names that it gives back. */
export function sameText(a = '', b = ''): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** Whether all that the first says holds for the second. */
export function agrees(wanted: object, found: object): boolean {
  const values = new Map<string, unknown>(Object.entries(found));
  return Object.entries(wanted).every(([key, value]) => values.get(key) === value);
}
