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

/** Where in etcd the keys with a prefix are; all of the store's, when there is none. Another store's may begin with the same letters. */
export function placeOf(storePrefix: string, under: string): string {
  const isApart = under !== '' || storePrefix === '' || storePrefix.endsWith('/');
  return isApart ? storePrefix + under : `${storePrefix}/`;
}

/** A key of the engine's own, which its users never see. */
export const tickKey = (storePrefix: string): string => `${placeOf(storePrefix, '')}.tick`;
