// Relays connections, which a kernel mode (the carrier) sends to the relays. A change of endpoints is a message to the relays, and
// writes nothing to the kernel.
import { isDeepStrictEqual } from 'node:util';
import { NativeUnavailableError } from '../../../host/native.ts';
import type { Log } from '../../../observe/log.ts';
import type { ProxyState, ServicePort, StateChange } from '../../model/state.ts';
import type { Mode, ModeOptions, RelayedConnections, RunningMode, SyncReport } from '../mode.ts';
import { redirected } from './desired.ts';
import { startPortableRelays } from './relay-portable.ts';
import type { CarriedByRelay, RelayLimits, Relays } from './relays.ts';
import { startRelayThread } from './run-relay-thread.ts';
import { createPortRelays, type PortRelays } from './run-relays.ts';
import { readSettings, type UserspaceSettings } from './settings.ts';

export type UserspaceOptions = ModeOptions & {
  /** The mode that sends traffic to the relays. */
  readonly carrier: Mode;
};

const noAddress = 'Not relaying Services, the node has no address for relays to listen on';

type NodeRelays = { readonly ip: string; readonly relays: PortRelays };

/** Between the address that relays listen on and their own name, which has spaces, too. */
const relayName = (ip: string, id: string): string => `${ip} ${id}`;

export async function startUserspace(
  options: UserspaceOptions,
  signal: AbortSignal,
): Promise<RunningMode> {
  const { carrier, log } = options;
  const settings = readSettings(options.settings);
  const kernel = await carrier.start(options, signal);
  const relays = startRelays(settings.limits, log);
  /** The service ports as last passed to the carrier, by key. */
  const redirectedPorts = new Map<string, ServicePort>();
  let current: NodeRelays | undefined;

  const sync = async (state: ProxyState, change: StateChange): Promise<SyncReport> => {
    const before = current;
    current = relaysOnNode(state, before, relays, settings);
    if (current === undefined && state.ports.size > 0)
      log.warn(noAddress, { family: options.family });
    const ports = current === undefined ? new Map<string, ServicePort>() : state.ports;
    const isFull = change.kind === 'full' || current !== before;
    const keys = isFull ? new Set([...ports.keys(), ...redirectedPorts.keys()]) : change.keys;
    const opened = await openAll({ ports, keys, redirectedPorts }, current?.relays);
    const report = await kernel.sync(
      { node: state.node, ports: redirectedPorts },
      isFull ? { kind: 'full' } : { kind: 'ports', keys: opened.redirectedPorts },
    );
    // Only now the kernel has no rule for them any more.
    const closed = closeUnused({ ports, keys }, current?.relays);
    if (before !== current) before?.relays.closeAll();
    return { ...report, changes: opened.relays + report.changes + closed };
  };
  return {
    sync,
    isIntact: kernel.isIntact,
    relayed: async () => (await relays.carried()).flatMap(relayedBy),
    async stop() {
      await Promise.all([kernel.stop(), relays.stop()]);
    },
  };
}

/** Relays listen on the node's first address; undefined while it has none. */
function relaysOnNode(
  { node }: ProxyState,
  before: NodeRelays | undefined,
  relays: Relays,
  { ports }: UserspaceSettings,
): NodeRelays | undefined {
  const ip = node.nodeIPs[0];
  if (ip === undefined || before?.ip === ip) return ip === undefined ? undefined : before;
  // Relay names are free again only after the old ones are closed; these listen elsewhere and have their own.
  const renamed: Relays = {
    ...relays,
    open: (relay) => relays.open({ ...relay, id: relayName(ip, relay.id) }),
    update: (update) => relays.update({ ...update, id: relayName(ip, update.id) }),
    close: (id) => relays.close(relayName(ip, id)),
  };
  const range = ports === undefined ? {} : { ports };
  return { ip, relays: createPortRelays({ relays: renamed, listenIP: ip, ...range }) };
}

/** Names are `IP SERVICE-PORT SET`. */
function relayedBy({ id, endpoints }: CarriedByRelay): readonly RelayedConnections[] {
  const [, portKey = '', set] = id.split(' ');
  return endpoints.map((one) => ({ ...one, portKey, set: set === 'local' ? 'local' : 'cluster' }));
}

type Work = {
  readonly ports: ReadonlyMap<string, ServicePort>;
  readonly keys: ReadonlySet<string>;
  readonly redirectedPorts: Map<string, ServicePort>;
};

/** Returns how many relays changed, and which ports changed for the carrier. */
async function openAll(
  { ports, keys, redirectedPorts }: Work,
  relays: PortRelays | undefined,
): Promise<{ readonly relays: number; readonly redirectedPorts: ReadonlySet<string> }> {
  const changed = new Set<string>();
  let changes = 0;
  for (const key of keys) {
    const port = ports.get(key);
    if (port === undefined || relays === undefined) {
      if (redirectedPorts.delete(key)) changed.add(key);
      continue;
    }
    changes += await relays.openOrUpdate(port);
    const after = redirected(port, relays.addressOf);
    if (isDeepStrictEqual(redirectedPorts.get(key), after)) continue;
    redirectedPorts.set(key, after);
    changed.add(key);
  }
  return { relays: changes, redirectedPorts: changed };
}

function closeUnused(
  { ports, keys }: Omit<Work, 'redirectedPorts'>,
  relays: PortRelays | undefined,
): number {
  let closed = 0;
  for (const key of keys) closed += relays?.closeUnused(key, ports.get(key)) ?? 0;
  return closed;
}

export function startRelays(limits: RelayLimits, log: Log): Relays {
  try {
    return startRelayThread(limits);
  } catch (error) {
    if (!(error instanceof NativeUnavailableError)) throw error;
    log.warn('Relaying with Node.js sockets, at twice the cost', { reason: error.message });
    return startPortableRelays(limits);
  }
}
