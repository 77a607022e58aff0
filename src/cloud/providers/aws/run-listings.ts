// Caches long lists that many load balancers need.
import type { Clock } from '../../../host/clock.ts';

/** Returns the list as of this time or later. */
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

/** Runs actions one at a time, in order. */
export function createMutex(): <T>(act: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (act) => {
    const own = last.then(act);
    last = own.catch(() => {
      // The caller of `act` gets the error.
    });
    return own;
  };
}
