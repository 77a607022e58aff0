// Requests that want to know the same at the same time get one answer. So many users that watch one screen cost what one of them does.

import { createStreamCount } from '../limits/stream-count.ts';

export type SharedQuestions<T> = {
  /**
   * Joins the question of this key if one is open, otherwise starts it; undefined where there is no room for another one. It is aborted
   * when all who wait for it are gone.
   */
  readonly join: (request: SharedRequest<T>) => Promise<T> | undefined;
};

export type SharedRequest<T> = {
  readonly key: string;
  /** Who starts it, if it is not open; who joins costs nothing. */
  readonly user: string;
  /** What the answer may take, in the unit of the limit. */
  readonly weight: number;
  readonly start: (signal: AbortSignal) => Promise<T>;
  readonly signal: AbortSignal;
};

type Open<T> = { readonly answer: Promise<T>; readonly abort: AbortController; waiting: number };

/** Questions that one user has open: all of them must not be of one user. */
const maxPerUser = 4;

export function createSharedQuestions<T>(limit: number): SharedQuestions<T> {
  const perUser = createStreamCount(maxPerUser);
  const open = new Map<string, Open<T>>();
  let used = 0;
  const begin = ({ key, user, weight, start }: SharedRequest<T>): Open<T> => {
    const uncount = perUser.add(user);
    const abort = new AbortController();
    used += weight;
    const answer = start(abort.signal).finally(() => {
      used -= weight;
      uncount();
      if (open.get(key)?.abort === abort) open.delete(key);
    });
    const begun = { answer, abort, waiting: 0 };
    open.set(key, begun);
    return begun;
  };
  return {
    join(request) {
      const known = open.get(request.key);
      const hasRoom = used + request.weight <= limit && perUser.hasRoom(request.user);
      if (known === undefined && !hasRoom) return undefined;
      const one = known ?? begin(request);
      one.waiting += 1;
      const leave = (): void => {
        one.waiting -= 1;
        if (one.waiting > 0) return;
        // Who comes from now on asks anew.
        if (open.get(request.key) === one) open.delete(request.key);
        one.abort.abort();
      };
      request.signal.addEventListener('abort', leave, { once: true });
      if (request.signal.aborted) leave();
      return one.answer.finally(() => request.signal.removeEventListener('abort', leave));
    },
  };
}
