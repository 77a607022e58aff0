// Limits the queries that are forwarded for one client at a time. Names that no server answers take seconds: without a limit, one client
// that queries many of them uses up the slots of all others.

export type ClientShares = {
  readonly mayBegin: (client: string) => boolean;
  readonly begin: (client: string) => void;
  readonly end: (client: string) => void;
};

/** The share of the free slots that one client may use: the more it has, the fewer it gets. */
const shareOfFree = 1 / 4;

export function createClientShares(max: number): ClientShares {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    mayBegin(client) {
      const own = counts.get(client) ?? 0;
      const free = max - total;
      return free > 0 && own < Math.max(1, free * shareOfFree);
    },
    begin(client) {
      counts.set(client, (counts.get(client) ?? 0) + 1);
      total += 1;
    },
    end(client) {
      const left = (counts.get(client) ?? 0) - 1;
      if (left > 0) counts.set(client, left);
      else counts.delete(client);
      total -= 1;
    },
  };
}
