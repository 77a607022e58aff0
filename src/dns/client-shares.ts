// Divides slots between clients: those of forwarded queries, where names that no server answers take seconds, and those of TCP connections.
// Without it, one client, or a few together, use up the slots of all others.

export type ClientShares = {
  readonly mayBegin: (client: string) => boolean;
  readonly begin: (client: string) => void;
  readonly end: (client: string) => void;
};

/** The share of the free slots that one client may use: the more it has, the fewer it gets. */
const shareOfFree = 1 / 4;

/** `maxPerClient` also holds while all slots are free. */
export function createClientShares(max: number, maxPerClient = max): ClientShares {
  const counts = new Map<string, number>();
  let total = 0;
  return {
    mayBegin(client) {
      const own = counts.get(client) ?? 0;
      const free = max - total;
      return free > 0 && own < Math.min(maxPerClient, Math.max(1, free * shareOfFree));
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
