// Relays on the services' own addresses, and the local routes that bring traffic to them.
import { isDeepStrictEqual } from 'node:util';
import { type Netlink, openNetlink } from '../../../host/netlink/netlink.ts';
import { requireLink } from '../../../host/netlink/route-links.ts';
import { deleteRoute, replaceRoute, routeTable } from '../../../host/netlink/route-routes.ts';
import type { ProxyState, ServicePort, StateChange } from '../../model/state.ts';
import type { ModeOptions, RelayedConnections, RunningMode, SyncReport } from '../mode.ts';
import { directRelays, hasUnfilteredBalancer, localRoutes } from './direct.ts';
import type { CarriedByRelay, Relays, RelayToOpen } from './relays.ts';

export type DirectOptions = Pick<ModeOptions, 'log' | 'family'> & { readonly relays: Relays };

export async function startDirect({ relays, log }: DirectOptions): Promise<RunningMode> {
  const netlink = await openNetlink({ protocol: 'route' });
  const loopback = (await requireLink(netlink, 'lo')).index;
  const routes = new Set<string>();
  const open = new Map<string, RelayToOpen>();
  const warned = new Set<string>();
  let ports: ProxyState['ports'] = new Map();

  const fit = async (key: string, wanted: readonly RelayToOpen[]): Promise<number> => {
    let changes = 0;
    const names = new Set(wanted.map(({ id }) => id));
    for (const id of [...open.keys()].filter((id) => id.startsWith(`${key} `) && !names.has(id))) {
      relays.close(id);
      open.delete(id);
      changes += 1;
    }
    for (const relay of wanted) {
      const before = open.get(relay.id);
      if (isDeepStrictEqual(before, relay)) continue;
      changes += 1;
      if (before === undefined) await relays.open(relay);
      else relays.update(relay);
      open.set(relay.id, relay);
    }
    return changes;
  };
  return {
    async sync(state: ProxyState, change: StateChange): Promise<SyncReport> {
      ports = state.ports;
      let changes = await fitRoutes(netlink, loopback, { routes, wanted: localRoutes(state) });
      const keys = change.kind === 'full' ? keysOf(state, open) : change.keys;
      for (const key of keys) {
        const port = state.ports.get(key);
        changes += await fit(key, port === undefined ? [] : directRelays(port, state.node));
        if (port === undefined || !hasUnfilteredBalancer(port) || warned.has(key)) continue;
        warned.add(key);
        log.warn('Not relaying load balancer address, its source ranges need a packet filter', {
          service: `${port.namespace}/${port.name}`,
        });
      }
      return { isFull: change.kind === 'full', changes, bytes: 0 };
    },
    isIntact: () => Promise.resolve(true),
    relayed: async () => (await relays.carried()).flatMap((one) => relayedBy(one, ports)),
    async stop() {
      await relays.stop();
      // Without relays nothing answers there: the routes are removed with them.
      await fitRoutes(netlink, loopback, { routes, wanted: new Set() });
      await netlink.close();
    },
  };
}

/** Names are `SERVICE-PORT IP PORT`; the policy of the address says which endpoints its relay has. */
function relayedBy(
  { id, endpoints }: CarriedByRelay,
  ports: ReadonlyMap<string, ServicePort>,
): readonly RelayedConnections[] {
  const [portKey = '', ip] = id.split(' ');
  const port = ports.get(portKey);
  const policy = port?.clusterIP === ip ? port?.internalPolicy : port?.externalPolicy;
  return endpoints.map((one) => ({
    ...one,
    portKey,
    set: policy === 'Local' ? 'local' : 'cluster',
  }));
}

function keysOf(
  { ports }: ProxyState,
  open: ReadonlyMap<string, RelayToOpen>,
): ReadonlySet<string> {
  const opened = [...open.keys()].map((id) => id.slice(0, id.indexOf(' ')));
  return new Set([...ports.keys(), ...opened]);
}

async function fitRoutes(
  netlink: Netlink,
  interfaceIndex: number,
  { routes, wanted }: { readonly routes: Set<string>; readonly wanted: ReadonlySet<string> },
): Promise<number> {
  const missing = [...wanted].filter((destination) => !routes.has(destination));
  const unwanted = [...routes].filter((destination) => !wanted.has(destination));
  const route = (destination: string) =>
    ({ destination, type: 'local', interfaceIndex, table: routeTable.local }) as const;
  for (const destination of missing) {
    await replaceRoute(netlink, route(destination));
    routes.add(destination);
  }
  for (const destination of unwanted) {
    await deleteRoute(netlink, route(destination));
    routes.delete(destination);
  }
  return missing.length + unwanted.length;
}
