// etcd's ranges of keys: from a key up to, but not including, another, in byte order.

/** The `rangeEnd` that means "to the end of all keys". */
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

/** Where in etcd the keys with a prefix start; all of the store's, when it is empty. Another store's prefix may start with the same letters. */
export function rangeStart(storePrefix: string, under: string): string {
  const isDelimited = under !== '' || storePrefix === '' || storePrefix.endsWith('/');
  return isDelimited ? storePrefix + under : `${storePrefix}/`;
}

/** Written to advance the watch (progress-requests.ts); users of the store never see it. */
export const progressKey = (storePrefix: string): string => `${rangeStart(storePrefix, '')}.tick`;
