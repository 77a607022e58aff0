// Opens, updates and closes relays as service ports are added, changed and removed.
import { isDeepStrictEqual } from 'node:util';
import { type PortRange, portCount } from '../../../ip/port-range.ts';
import type { ServicePort } from '../../model/state.ts';
import { type RelaySpec, relayId, relaysOf } from './desired.ts';
import type { HostPort } from './relay-address.ts';
import type { Relays, RelayToOpen } from './relays.ts';

export type PortRelays = {
  /** Opens or updates the relays of the port; returns how many changed. */
  readonly openOrUpdate: (port: ServicePort) => Promise<number>;
  readonly addressOf: (relay: string) => HostPort | undefined;
  /** Closes relays that the port (absent: removed) does not need; returns how many. */
  readonly closeUnused: (key: string, port: ServicePort | undefined) => number;
  readonly closeAll: () => void;
};

export type PortRelaysOptions = {
  readonly relays: Relays;
  readonly listenIP: string;
  readonly ports?: PortRange;
  readonly random?: () => number;
};

/** Ports of the range that are tried before it counts as full: other programs may use some. */
const maxTries = 64;

export function createPortRelays(options: PortRelaysOptions): PortRelays {
  const { relays, listenIP } = options;
  const open = new Map<string, { readonly spec: RelaySpec; readonly address: HostPort }>();
  const close = (id: string): void => {
    relays.close(id);
    open.delete(id);
  };
  return {
    async openOrUpdate(port) {
      let changes = 0;
      for (const spec of relaysOf(port)) {
        const known = open.get(spec.id);
        if (known !== undefined && isDeepStrictEqual(known.spec, spec)) continue;
        changes += 1;
        if (known === undefined) {
          const number = await openOne(options, spec);
          open.set(spec.id, { spec, address: { ip: listenIP, port: number } });
        } else {
          relays.update(spec);
          open.set(spec.id, { ...known, spec });
        }
      }
      return changes;
    },
    addressOf: (id) => open.get(id)?.address,
    closeUnused(key, port) {
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
  spec: RelaySpec,
): Promise<number> {
  const at = (port: number): RelayToOpen => ({ ...spec, listen: { ip: listenIP, port } });
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
    `Cannot listen for "${spec.id}": no free port in --proxy-port-range ${ports.first}-${ports.last}`,
    { cause: failure },
  );
}
