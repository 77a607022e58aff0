// Membership in long lists of clients, tested for many values: a linear search for each would take quadratic time.

/** Up to this length a linear search is as fast. */
const shortList = 16;
const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** As `includes`; the list must not change afterwards. */
export function contains(list: readonly string[], value: string): boolean {
  if (list.length <= shortList) return list.includes(value);
  let set = sets.get(list);
  if (set === undefined) {
    set = new Set(list);
    sets.set(list, set);
  }
  return set.has(value);
}

/** Indexes of values that occur earlier in the list. */
export function repeatedIndexes(values: readonly string[]): ReadonlySet<number> {
  const seen = new Set<string>();
  const repeated = new Set<number>();
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) repeated.add(index);
    seen.add(value);
  }
  return repeated;
}
