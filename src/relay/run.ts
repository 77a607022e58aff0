// Keeps the doors on the loopback as the Services want them.
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import type { ApiCaller } from '../client/api-call.ts';
import { createEventRecorder } from '../client/event-recorder.ts';
import { startInformer } from '../client/informer.ts';
import type { Clock } from '../host/clock.ts';
import { serviceDefinition } from '../kinds/service/definition.ts';
import type { Service } from '../kinds/service/types.ts';
import type { Log } from '../observe/log.ts';
import { desiredRelays, type Endpoint, type Relay, type RelaySituation } from './desired.ts';
import { secondOctet } from './loopback.ts';
import { type RelayListener, relayTcp } from './relay-tcp.ts';
import { relayUdp } from './relay-udp.ts';
import { type Claimed, type LoopbackClaims, sharedText } from './run-claims.ts';

/** Opens sockets inside the network. */
export type Inside = {
  readonly connect: (from: Relay['from'], target: Endpoint) => Socket;
  readonly bind: (from: Relay['from'], target: Endpoint) => Promise<DatagramSocket>;
};

export type RelaysOptions = Omit<RelaySituation, 'services' | 'nodePortHost' | 'octets'> & {
  readonly caller: ApiCaller;
  readonly clock: Clock;
  readonly log: Log;
  readonly inside: Inside;
  readonly loopback: LoopbackClaims;
  /** Told of what there is after each change. */
  readonly changed: (relays: readonly RelayState[]) => void;
};

/** A relay and where it really listens, or why it does not. */
export type RelayState = Relay & {
  readonly problem?: string;
  /** It listens on an address that this cluster could not claim. */
  readonly isShared?: boolean;
};

/** Ports below 1024 are root's: others get the one so much above. */
const unprivilegedShift = 10_000;
/** A port that is taken may be free later. */
const retryMs = 5000;

type WantedRelay = Omit<RelayState, 'problem'>;
type Opened = {
  readonly wanted: WantedRelay;
  readonly state: RelayState;
  readonly door?: RelayListener;
};

/** Resolves when the signal has ended it and all doors are shut. */
export async function startRelays(options: RelaysOptions, signal: AbortSignal): Promise<void> {
  const { caller, clock, log } = options;
  const services = startInformer({ caller, type: serviceDefinition, clock, log }, signal);
  const events = createEventRecorder({ caller, component: 'fairlead-relay', clock, log });
  const opened = new Map<string, Opened>();
  const octets = new Map<number, Claimed<number>>();
  const follow = createFollower(async () => {
    const wanted = signal.aborted
      ? []
      : await claimed(options, octets, [...services.store.values()]);
    const before = new Set(opened.keys());
    const didChange = await adjust(opened, wanted, options);
    for (const [key, { state }] of opened) {
      const service = services.store.get(state.service);
      const event = before.has(key) ? undefined : warningOf(state);
      if (service === undefined || event === undefined) continue;
      events.record(service, { type: 'Warning', ...event });
    }
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

function warningOf({ purpose, listen, problem, isShared }: RelayState) {
  const place = endpointText(listen);
  if (problem !== undefined) {
    const message = `Cannot listen for its ${purpose} on ${place}: ${problem}`;
    return { reason: 'RelayListenFailed', message };
  }
  if (isShared !== true) return undefined;
  const message = `Its ${purpose} is at ${place}: ${sharedText}`;
  return { reason: 'LoopbackAddressShared', message };
}

const endpointText = ({ host, port }: Endpoint): string => `${host}:${port}`;

/** What to open, on addresses that no other cluster of this machine has; which are shared is said. */
async function claimed(
  options: RelaysOptions,
  octets: Map<number, Claimed<number>>,
  services: readonly Service[],
): Promise<readonly WantedRelay[]> {
  const { nodePorts } = options.loopback;
  const situation = { ...options, services, nodePortHost: nodePorts.value };
  for (const { listen, purpose } of desiredRelays({ ...situation, octets: new Map() })) {
    const octet = secondOctet(listen.host);
    if (purpose === 'node port' || octets.has(octet)) continue;
    octets.set(octet, await options.loopback.octet(octet));
  }
  const shared = new Set(
    [...octets.values()].filter(({ isShared }) => isShared).map(({ value }) => value),
  );
  const values = new Map([...octets].map(([octet, { value }]) => [octet, value]));
  return desiredRelays({ ...situation, octets: values }).map((relay) => {
    const isShared =
      relay.purpose === 'node port'
        ? nodePorts.isShared
        : shared.has(secondOctet(relay.listen.host));
    return isShared ? { ...relay, isShared } : relay;
  });
}

/** Whether anything changed. What is in the way of one relay does not keep the others from working. */
async function adjust(
  opened: Map<string, Opened>,
  wanted: readonly WantedRelay[],
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

async function open(relay: WantedRelay, options: RelaysOptions): Promise<Opened> {
  const { takenBy } = relay;
  if (takenBy !== undefined) {
    return { wanted: relay, state: { ...relay, problem: `${takenBy} has it` } };
  }
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
): Promise<RelayListener> {
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
