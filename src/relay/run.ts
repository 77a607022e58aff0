// Keeps the doors on the loopback as the Services want them.
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import type { ApiCaller } from '../client/api-call.ts';
import { startInformer } from '../client/informer.ts';
import type { Clock } from '../host/clock.ts';
import { serviceDefinition } from '../kinds/service/definition.ts';
import type { Log } from '../observe/log.ts';
import { desiredRelays, type Endpoint, type Relay, type RelaySituation } from './desired.ts';
import { type Door, relayTcp } from './relay-tcp.ts';
import { relayUdp } from './relay-udp.ts';

/** Opens sockets inside the network. */
export type Inside = {
  readonly connect: (from: Relay['from'], target: Endpoint) => Socket;
  readonly bind: (from: Relay['from'], target: Endpoint) => Promise<DatagramSocket>;
};

export type RelaysOptions = Pick<RelaySituation, 'nodeAddresses' | 'allServices'> & {
  readonly caller: ApiCaller;
  readonly clock: Clock;
  readonly log: Log;
  readonly inside: Inside;
  /** Told of what there is after each change. */
  readonly changed: (relays: readonly RelayState[]) => void;
};

/** A relay and where it really listens, or why it does not. */
export type RelayState = Relay & { readonly problem?: string };

/** Ports below 1024 are root's: others get the one so much above. */
const unprivilegedShift = 10_000;
/** A port that is taken may be free later. */
const retryMs = 5000;

type Opened = { readonly wanted: Relay; readonly state: RelayState; readonly door?: Door };

/** Resolves when the signal has ended it and all doors are shut. */
export async function startRelays(options: RelaysOptions, signal: AbortSignal): Promise<void> {
  const { caller, clock, log } = options;
  const services = startInformer({ caller, type: serviceDefinition, clock, log }, signal);
  const opened = new Map<string, Opened>();
  const follow = createFollower(async () => {
    const wanted = signal.aborted
      ? []
      : desiredRelays({ ...options, services: services.store.values() });
    const didChange = await adjust(opened, wanted, options);
    if (didChange) options.changed([...opened.values()].map(({ state }) => state));
  });
  await services.synced();
  services.onChange({ add: follow.ask, update: follow.ask, delete: follow.ask });
  let cancel = (): void => {};
  const retry = (): void => {
    if ([...opened.values()].some(({ door }) => door === undefined)) follow.ask();
    cancel = clock.after(retryMs, retry);
  };
  retry();
  await services.ended;
  cancel();
  follow.ask();
  await follow.done();
}

/** Whether anything changed. What is in the way of one relay does not keep the others from working. */
async function adjust(
  opened: Map<string, Opened>,
  wanted: readonly Relay[],
  options: RelaysOptions,
): Promise<boolean> {
  const byKey = new Map(wanted.map((relay) => [relay.key, relay]));
  let didChange = false;
  for (const [key, { wanted: before, door }] of [...opened]) {
    const after = byKey.get(key);
    const isSame = after !== undefined && JSON.stringify(after) === JSON.stringify(before);
    if (isSame && door !== undefined) continue;
    await door?.close();
    opened.delete(key);
    didChange ||= !isSame;
  }
  for (const relay of wanted) {
    if (opened.has(relay.key)) continue;
    const result = await open(relay, options);
    opened.set(relay.key, result);
    didChange = true;
  }
  return didChange;
}

async function open(relay: Relay, options: RelaysOptions): Promise<Opened> {
  const shifted = { ...relay.listen, port: relay.listen.port + unprivilegedShift };
  try {
    return { wanted: relay, state: relay, door: await openAt(relay, relay.listen, options) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES') return { wanted: relay, state: { ...relay, problem: message } };
  }
  try {
    const door = await openAt(relay, shifted, options);
    return { wanted: relay, state: { ...relay, listen: shifted }, door };
  } catch (error) {
    return { wanted: relay, state: { ...relay, problem: (error as Error).message } };
  }
}

function openAt(
  { protocol, from, target }: Relay,
  listen: Endpoint,
  { inside, clock }: RelaysOptions,
): Promise<Door> {
  if (protocol === 'TCP') return relayTcp({ listen, connect: () => inside.connect(from, target) });
  return relayUdp({ listen, target, clock, bind: () => inside.bind(from, target) });
}

/** One adjustment at a time; what is asked meanwhile is done once, afterwards. */
function createFollower(work: () => Promise<void>) {
  let running: Promise<void> | undefined;
  let isAsked = false;
  const run = async (): Promise<void> => {
    while (isAsked) {
      isAsked = false;
      await work();
    }
    running = undefined;
  };
  return {
    ask(): void {
      isAsked = true;
      running ??= run();
    },
    done: (): Promise<void> => running ?? Promise.resolve(),
  };
}
