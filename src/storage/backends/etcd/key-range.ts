// Ranges of keys as etcd has them: from a key up to and without another, in byte order.

/** What `rangeEnd` says for "to the end of all keys". */
const endOfAll = Uint8Array.of(0);

/** The first key after all that start with the prefix. */
export function endOfPrefix(prefix: string): Uint8Array {
  const bytes = Uint8Array.from(Buffer.from(prefix));
  for (let at = bytes.length - 1; at >= 0; at -= 1) {
    const byte = bytes[at] ?? 0xff;
    if (byte === 0xff) continue;
    const end = bytes.slice(0, at + 1);
    end[at] = byte + 1;
    return end;
  }
  return endOfAll;
}

/** The key right after this one. */
export function keyAfter(key: string): string {
  return `${key}\0`;
}
