// Whether lists contain values, asked for one value after the other: lists come from clients and may be long, and going
// through one for each item of another costs their product.

/** Up to here going through the list is as fast. */
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

/** The places whose value stood at an earlier place already. */
export function repeatedPlaces(values: readonly string[]): ReadonlySet<number> {
  const seen = new Set<string>();
  const repeated = new Set<number>();
  for (const [place, value] of values.entries()) {
    if (seen.has(value)) repeated.add(place);
    seen.add(value);
  }
  return repeated;
}
