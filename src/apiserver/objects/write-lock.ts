// Writers that lost a race for an object go on one after the other: all but one of them would lose again.
import type { Store } from '../../storage/store.ts';

/** Of each store, the last writer in line for each key. */
const lines = new WeakMap<Store, Map<string, Promise<unknown>>>();

/** Runs the write when all that came before it for this key are done, whatever became of them. */
export async function takeTurn<T>(store: Store, key: string, write: () => Promise<T>): Promise<T> {
  const line = lines.get(store) ?? new Map<string, Promise<unknown>>();
  lines.set(store, line);
  const mine = Promise.allSettled([line.get(key)]).then(write);
  line.set(key, mine);
  try {
    return await mine;
  } finally {
    if (line.get(key) === mine) line.delete(key);
  }
}
