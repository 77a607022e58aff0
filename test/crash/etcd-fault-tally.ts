// How many answers each server has given, for who waits for more.

export type Tally = {
  readonly note: (server: number) => void;
  /** Resolves when each of these servers has given so many more. */
  readonly more: (servers: readonly number[], by: number) => Promise<void>;
  readonly total: () => number;
};

type Waiting = { readonly isDone: () => boolean; readonly resolve: () => void };

export function createTally(): Tally {
  const counts = new Map<number, number>();
  const waiting = new Set<Waiting>();
  const of = (server: number): number => counts.get(server) ?? 0;
  return {
    note(server) {
      counts.set(server, of(server) + 1);
      for (const waiter of waiting) {
        if (!waiter.isDone()) continue;
        waiting.delete(waiter);
        waiter.resolve();
      }
    },
    more: (servers, by) =>
      new Promise((resolve) => {
        const goals = servers.map((server) => ({ server, at: of(server) + by }));
        waiting.add({ isDone: () => goals.every(({ server, at }) => of(server) >= at), resolve });
      }),
    total: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
  };
}
