// Who takes the next connection: round robin over the endpoints in an order of chance, or the endpoint that a client
// is stuck to.
import type { HostPort } from './relay-address.ts';

export type Balancer<E extends HostPort> = {
  /** The endpoint for a client's next connection; undefined while there is none. */
  readonly pick: (client: string) => E | undefined;
  /**
   * The same after these did not answer, and another one if there is: the client is stuck to them no longer (USR-03).
   * Upstream only takes the next in turn, which under load can be the same again.
   */
  readonly pickAnother: (client: string, tried: readonly E[]) => E | undefined;
  /** The endpoints changed: a new order, from its beginning (USR-02); clients of those that stay stay (USR-04). */
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

type Stuck<E> = { readonly endpoint: E; readonly untilMs: number };

/** Clients remembered for one service port; the one that was away longest is forgotten first. */
const maxClients = 65_536;

export function createBalancer<E extends HostPort>({
  now,
  random,
  ...first
}: BalancerOptions<E>): Balancer<E> {
  let order: readonly E[] = [];
  let next = 0;
  let affinityMs: number | undefined;
  const stuck = new Map<string, Stuck<E>>();

  const update: Balancer<E>['update'] = (endpoints, affinitySeconds) => {
    affinityMs = affinitySeconds === undefined ? undefined : affinitySeconds * 1000;
    order = shuffle(endpoints, random);
    next = 0;
    const names = new Set(endpoints.map(nameOf));
    for (const [client, { endpoint }] of stuck) {
      if (affinityMs === undefined || !names.has(nameOf(endpoint))) stuck.delete(client);
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
    stuck.delete(client);
    stuck.set(client, { endpoint, untilMs: now() + affinityMs });
    if (stuck.size > maxClients) {
      for (const oldest of stuck.keys()) {
        stuck.delete(oldest);
        break;
      }
    }
    return endpoint;
  };

  update(first.endpoints, first.affinitySeconds);
  return {
    pick(client) {
      const known = affinityMs === undefined ? undefined : stuck.get(client);
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
