/** More would be an endless list; what was seen until then is the answer. */
const maxReads = 10;

/**
 * For lists that the kernel hands out in pieces without saying whether they changed in between, and of which it may leave entries out: read
 * until a reading has nothing that those before it had not. All that was seen, each once, as it was seen last.
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
