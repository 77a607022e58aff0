// The relays of all service ports: opened, given other endpoints and closed as the ports come, change and go.
import { isDeepStrictEqual } from 'node:util';
import { type PortRange, portCount } from '../../../ip/port-range.ts';
import type { ServicePort } from '../../model/state.ts';
import { type RelaySpec, relayId, relaysOf } from './desired.ts';
import type { HostPort } from './relay-address.ts';
import type { Relays, RelayToOpen } from './relays.ts';

export type PortRelays = {
  /** Opens what the port needs and gives what it has its endpoints; returns how many changed. */
  readonly fit: (port: ServicePort) => Promise<number>;
  readonly addressOf: (relay: string) => HostPort | undefined;
  /** Closes what the port, absent when it has gone, does not need; returns how many. */
  readonly trim: (key: string, port: ServicePort | undefined) => number;
  readonly closeAll: () => void;
};

export type PortRelaysOptions = {
  readonly relays: Relays;
  readonly listenIP: string;
  readonly ports?: PortRange;
  readonly random?: () => number;
};

/** A range may be used by others too: so many ports are tried before it counts as full. */
const maxTries = 64;

export function createPortRelays(options: PortRelaysOptions): PortRelays {
  const { relays, listenIP } = options;
  const open = new Map<string, { readonly wish: RelaySpec; readonly address: HostPort }>();
  const close = (id: string): void => {
    relays.close(id);
    open.delete(id);
  };
  return {
    async fit(port) {
      let changes = 0;
      for (const wish of relaysOf(port)) {
        const known = open.get(wish.id);
        if (known !== undefined && isDeepStrictEqual(known.wish, wish)) continue;
        changes += 1;
        if (known === undefined) {
          const number = await openOne(options, wish);
          open.set(wish.id, { wish, address: { ip: listenIP, port: number } });
        } else {
          relays.update(wish);
          open.set(wish.id, { ...known, wish });
        }
      }
      return changes;
    },
    addressOf: (id) => open.get(id)?.address,
    trim(key, port) {
      const wanted = new Set(port === undefined ? [] : relaysOf(port).map(({ id }) => id));
      const unused = [relayId({ key }, 'cluster'), relayId({ key }, 'local')].filter(
        (id) => open.has(id) && !wanted.has(id),
      );
      unused.forEach(close);
      return unused.length;
    },
    closeAll: () => [...open.keys()].forEach(close),
  };
}

async function openOne(
  { relays, listenIP, ports, random = Math.random }: PortRelaysOptions,
  wish: RelaySpec,
): Promise<number> {
  const at = (port: number): RelayToOpen => ({ ...wish, listen: { ip: listenIP, port } });
  if (ports === undefined) return relays.open(at(0));
  const count = portCount(ports);
  const start = Math.floor(random() * count);
  let failure: unknown;
  for (let tries = 0; tries < Math.min(count, maxTries); tries += 1) {
    try {
      return await relays.open(at(ports.first + ((start + tries) % count)));
    } catch (error) {
      failure = error;
    }
  }
  throw new Error(
    `Cannot listen for "${wish.id}": no free port in --proxy-port-range ${ports.first}-${ports.last}`,
    { cause: failure },
  );
}
