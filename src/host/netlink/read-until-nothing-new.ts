// Complete lists from a kernel that leaves entries out.

/** A list that keeps changing is returned as seen until then. */
const maxReads = 10;

/**
 * For lists that the kernel returns in pages without saying whether they changed in between, and from which it may omit entries: reads
 * until a reading has no new entries. Returns each entry once, as last read.
 */
export async function readUntilNothingNew<Entry>(
  read: () => Promise<readonly Entry[]>,
  keyOf: (entry: Entry) => string,
): Promise<Entry[]> {
  const seen = new Map<string, Entry>();
  for (let reads = 0; reads < maxReads; reads += 1) {
    const before = seen.size;
    for (const entry of await read()) seen.set(keyOf(entry), entry);
    if (reads > 0 && seen.size === before) break;
  }
  return [...seen.values()];
}
