// Serializes the writers of an object after a conflict: concurrently, all but one would conflict again.
import type { Store } from '../../storage/store.ts';

/** Of each store, the last queued write for each key. */
const locks = new WeakMap<Store, Map<string, Promise<unknown>>>();

/** Runs the write when all earlier ones for this key are done, whether they succeeded or not. */
export async function withWriteLock<T>(
  store: Store,
  key: string,
  write: () => Promise<T>,
): Promise<T> {
  const lastWrites = locks.get(store) ?? new Map<string, Promise<unknown>>();
  locks.set(store, lastWrites);
  const ownWrite = Promise.allSettled([lastWrites.get(key)]).then(write);
  lastWrites.set(key, ownWrite);
  try {
    return await ownWrite;
  } finally {
    if (lastWrites.get(key) === ownWrite) lastWrites.delete(key);
  }
}
