// The queue of pulls: by default one after the other, as with a kubelet.
export type PullQueue = {
  /** Resolves when it is the caller's turn, with how to end it. Rejects with the signal. */
  readonly enter: (signal: AbortSignal) => Promise<() => void>;
};

export function createPullQueue(maxParallel = Number.POSITIVE_INFINITY): PullQueue {
  let running = 0;
  const waiting = new Set<() => void>();
  const startNext = (): void => {
    const [next] = waiting;
    if (next === undefined || running >= maxParallel) return;
    waiting.delete(next);
    running += 1;
    next();
  };
  return {
    async enter(signal) {
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        const giveUp = (): void => {
          waiting.delete(start);
          reject(signal.reason);
        };
        const start = (): void => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        };
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.add(start);
        startNext();
      });
      let hasLeft = false;
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        running -= 1;
        startNext();
      };
    },
  };
}
