/** A list that never holds still is given up. */
const mostReads = 10;

/**
 * For lists that the kernel hands out in pieces without saying whether they changed in between: read until two in a row have the same
 * entries, each once and in the order of the last reading. Undefined when no two have.
 */
export async function readUntilSame<Entry>(
  read: () => Promise<readonly Entry[]>,
  keyOf: (entry: Entry) => string,
): Promise<Entry[] | undefined> {
  let before: ReadonlyMap<string, Entry> | undefined;
  for (let reads = 0; reads < mostReads; reads += 1) {
    const now = new Map((await read()).map((entry) => [keyOf(entry), entry]));
    if (before !== undefined && hasSameKeys(before, now)) return [...now.values()];
    before = now;
  }
  return undefined;
}

function hasSameKeys(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean {
  return a.size === b.size && [...a.keys()].every((key) => b.has(key));
}
