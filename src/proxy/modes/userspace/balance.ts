// Chooses the endpoint of the next connection: round robin over the endpoints in random order, or the client's previous endpoint
// under session affinity.
import type { HostPort } from './relay-address.ts';

export type Balancer<E extends HostPort> = {
  /** The endpoint for a client's next connection; undefined while there is none. */
  readonly pick: (client: string) => E | undefined;
  /**
   * The same after these did not answer: another endpoint if there is one, and no affinity to the failed ones (USR-03).
   * Upstream only takes the next one, which under load can be the same again.
   */
  readonly pickAnother: (client: string, tried: readonly E[]) => E | undefined;
  /** Starts a new random order (USR-02). Affinity to endpoints that remain is retained (USR-04). */
  readonly update: (endpoints: readonly E[], affinitySeconds: number | undefined) => void;
};

export type BalancerOptions<E> = {
  readonly endpoints: readonly E[];
  /** Absent: every connection is spread. */
  readonly affinitySeconds?: number;
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
};

type StickyClient<E> = { readonly endpoint: E; readonly untilMs: number };

/** Clients with affinity for one service port; the least recently seen is removed first. */
const maxClients = 65_536;

export function createBalancer<E extends HostPort>({
  now,
  random,
  ...first
}: BalancerOptions<E>): Balancer<E> {
  let order: readonly E[] = [];
  let next = 0;
  let affinityMs: number | undefined;
  const sticky = new Map<string, StickyClient<E>>();

  const update: Balancer<E>['update'] = (endpoints, affinitySeconds) => {
    affinityMs = affinitySeconds === undefined ? undefined : affinitySeconds * 1000;
    order = shuffle(endpoints, random);
    next = 0;
    const names = new Set(endpoints.map(nameOf));
    for (const [client, { endpoint }] of sticky) {
      if (affinityMs === undefined || !names.has(nameOf(endpoint))) sticky.delete(client);
    }
  };

  const advance = (): E | undefined => {
    const endpoint = order[next];
    next = order.length === 0 ? 0 : (next + 1) % order.length;
    return endpoint;
  };

  const remember = (client: string, endpoint: E | undefined): E | undefined => {
    if (affinityMs === undefined || endpoint === undefined) return endpoint;
    // Deleted first, so that the map stays in the order of use.
    sticky.delete(client);
    sticky.set(client, { endpoint, untilMs: now() + affinityMs });
    if (sticky.size > maxClients) {
      for (const oldest of sticky.keys()) {
        sticky.delete(oldest);
        break;
      }
    }
    return endpoint;
  };

  update(first.endpoints, first.affinitySeconds);
  return {
    pick(client) {
      const known = affinityMs === undefined ? undefined : sticky.get(client);
      const isStuck = known !== undefined && known.untilMs > now();
      return remember(client, isStuck ? known.endpoint : advance());
    },
    pickAnother(client, tried) {
      const names = new Set(tried.map(nameOf));
      let endpoint = advance();
      for (let count = 1; count < order.length; count += 1) {
        if (endpoint === undefined || !names.has(nameOf(endpoint))) break;
        endpoint = advance();
      }
      return remember(client, endpoint);
    },
    update,
  };
}

const nameOf = ({ ip, port }: HostPort): string => `${ip} ${port}`;

/** Fisher and Yates. */
function shuffle<T>(items: readonly T[], random: () => number): readonly T[] {
  const order = [...items];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const [a, b] = [order[last] as T, order[other] as T];
    order[last] = b;
    order[other] = a;
  }
  return order;
}
