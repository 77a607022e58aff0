// How many questions of one client may be on their way to other servers. Names that nobody answers stay there for seconds: without
// a limit, one client that asks for many of them takes the places of all others.

export type ClientShares = {
  readonly mayBegin: (client: string) => boolean;
  readonly begin: (client: string) => void;
  readonly end: (client: string) => void;
};

/** What is left may be taken by one client up to this part of it: the more one has, the more it leaves. */
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
