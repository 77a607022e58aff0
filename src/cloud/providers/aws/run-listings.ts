// Long lists that many balancers need are read once and used for a while.
import type { Clock } from '../../../host/clock.ts';

/** As it was at this time or later. */
export type Listing<T> = (notBefore: number) => Promise<T>;

export function createListing<T>(clock: Clock, read: () => Promise<T>): Listing<T> {
  let last: { readonly at: number; readonly result: Promise<T> } | undefined;
  return (notBefore) => {
    if (last !== undefined && last.at >= notBefore) return last.result;
    const made = { at: clock.now(), result: read() };
    last = made;
    made.result.catch(() => {
      if (last === made) last = undefined;
    });
    return made.result;
  };
}

/** Who comes later waits for those before. */
export function createTurnQueue(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const mine = last.then(act);
    last = mine.catch(() => {
      // Told to whoever asked for it.
    });
    return mine;
  };
}
