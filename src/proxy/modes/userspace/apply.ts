// Relays that carry the connections, and under them a kernel mode that brings the connections to the relays. A change of
// endpoints is a message to the relays and nothing to the kernel.
import { isDeepStrictEqual } from 'node:util';
import { NativeUnavailableError } from '../../../host/native.ts';
import type { Log } from '../../../observe/log.ts';
import type { ProxyState, ServicePort, StateChange } from '../../model/state.ts';
import type { Mode, ModeOptions, RunningMode, SyncReport } from '../mode.ts';
import { redirected } from './desired.ts';
import { startPortableRelays } from './relay-portable.ts';
import type { RelayLimits, Relays } from './relays.ts';
import { startRelayThread } from './run-relay-thread.ts';
import { createPortRelays, type PortRelays } from './run-relays.ts';
import { readSettings, type UserspaceSettings } from './settings.ts';

export type UserspaceOptions = ModeOptions & {
  /** The mode that brings traffic to the relays. */
  readonly carrier: Mode;
};

const noAddress = 'services are not relayed: the node has no address for relays to listen on';

type Home = { readonly ip: string; readonly relays: PortRelays };

export async function startUserspace(
  options: UserspaceOptions,
  signal: AbortSignal,
): Promise<RunningMode> {
  const { carrier, log } = options;
  const settings = readSettings(options.settings);
  const kernel = await carrier.start(options, signal);
  const relays = startRelays(settings.limits, log);
  /** The service ports as the kernel was last told, by key. */
  const told = new Map<string, ServicePort>();
  let home: Home | undefined;

  const sync = async (state: ProxyState, change: StateChange): Promise<SyncReport> => {
    const before = home;
    home = homeOf(state, before, relays, settings);
    if (home === undefined && state.ports.size > 0) log.warn(noAddress, { family: options.family });
    const ports = home === undefined ? new Map<string, ServicePort>() : state.ports;
    const isFull = change.kind === 'full' || home !== before;
    const keys = isFull ? new Set([...ports.keys(), ...told.keys()]) : change.keys;
    const moved = await fitAll({ ports, keys, told }, home?.relays);
    const report = await kernel.sync(
      { node: state.node, ports: told },
      isFull ? { kind: 'full' } : { kind: 'ports', keys: moved.told },
    );
    // Only now does nothing in the kernel point at them any more.
    const closed = trimAll({ ports, keys }, home?.relays);
    if (before !== home) before?.relays.closeAll();
    return { ...report, changes: moved.relays + report.changes + closed };
  };
  return {
    sync,
    isIntact: kernel.isIntact,
    async stop() {
      await Promise.all([kernel.stop(), relays.stop()]);
    },
  };
}

/** Relays listen on the node's first address; undefined while it has none. */
function homeOf(
  { node }: ProxyState,
  before: Home | undefined,
  relays: Relays,
  { ports }: UserspaceSettings,
): Home | undefined {
  const ip = node.nodeIPs[0];
  if (ip === undefined || before?.ip === ip) return ip === undefined ? undefined : before;
  // Relay names are free again only after the old ones are closed; these listen elsewhere and have their own.
  const renamed: Relays = {
    ...relays,
    open: (relay) => relays.open({ ...relay, id: `${ip} ${relay.id}` }),
    update: (update) => relays.update({ ...update, id: `${ip} ${update.id}` }),
    close: (id) => relays.close(`${ip} ${id}`),
  };
  const range = ports === undefined ? {} : { ports };
  return { ip, relays: createPortRelays({ relays: renamed, listenIP: ip, ...range }) };
}

type Work = {
  readonly ports: ReadonlyMap<string, ServicePort>;
  readonly keys: ReadonlySet<string>;
  readonly told: Map<string, ServicePort>;
};

/** How many relays changed, and which ports the kernel has to hear of. */
async function fitAll(
  { ports, keys, told }: Work,
  relays: PortRelays | undefined,
): Promise<{ readonly relays: number; readonly told: ReadonlySet<string> }> {
  const changed = new Set<string>();
  let changes = 0;
  for (const key of keys) {
    const port = ports.get(key);
    if (port === undefined || relays === undefined) {
      if (told.delete(key)) changed.add(key);
      continue;
    }
    changes += await relays.fit(port);
    const after = redirected(port, relays.addressOf);
    if (isDeepStrictEqual(told.get(key), after)) continue;
    told.set(key, after);
    changed.add(key);
  }
  return { relays: changes, told: changed };
}

function trimAll({ ports, keys }: Omit<Work, 'told'>, relays: PortRelays | undefined): number {
  let closed = 0;
  for (const key of keys) closed += relays?.trim(key, ports.get(key)) ?? 0;
  return closed;
}

export function startRelays(limits: RelayLimits, log: Log): Relays {
  try {
    return startRelayThread(limits);
  } catch (error) {
    if (!(error instanceof NativeUnavailableError)) throw error;
    log.warn('relaying on Node sockets, at twice the cost', { reason: error.message });
    return startPortableRelays(limits);
  }
}
