// What may be written in one transaction, whichever the backend.
import type { Write } from './store.ts';

/** Close to LMDB's limit for a key; etcd has none so low. */
const maxKeyBytes = 1500;

/** Programming errors, which no caller can handle: a key that is written twice, or is too long or empty. */
export function assertWritable(write: readonly Write[]): void {
  const keys = write.length > 1 ? new Set<string>() : undefined;
  for (const each of write) {
    const key = 'put' in each ? each.put : each.delete;
    if (key === '' || isTooLong(key)) {
      throw new TypeError(`Cannot write key "${key}": its length must be 1 to ${maxKeyBytes}`);
    }
    if (keys?.has(key)) throw new TypeError('Cannot write a key twice in one transaction');
    keys?.add(key);
  }
}

/** A UTF-16 code unit takes at most three bytes in UTF-8. */
const isTooLong = (key: string): boolean =>
  key.length * 3 > maxKeyBytes && Buffer.byteLength(key) > maxKeyBytes;
