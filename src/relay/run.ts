// Opens and closes listeners on the loopback as Services change.
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
  /** Called after each change with all relays. */
  readonly changed: (relays: readonly RelayState[]) => void;
};

/** A relay and where it listens, or why it does not. */
export type RelayState = Relay & {
  readonly problem?: string;
  /** It listens on an address that this cluster could not claim. */
  readonly isShared?: boolean;
};

/** Added to ports below 1024 where only root may listen on them. */
const unprivilegedShift = 10_000;
/** A port in use may become free. */
const retryMs = 5000;

type DesiredRelay = Omit<RelayState, 'problem'>;
type Opened = {
  readonly desired: DesiredRelay;
  readonly state: RelayState;
  readonly listener?: RelayListener;
};

/** Resolves after the signal, when all listeners are closed. */
export async function startRelays(options: RelaysOptions, signal: AbortSignal): Promise<void> {
  const { caller, clock, log } = options;
  const services = startInformer({ caller, type: serviceDefinition, clock, log }, signal);
  const events = createEventRecorder({ caller, component: 'fairlead-relay', clock, log });
  const relays = new Map<string, Opened>();
  const octets = new Map<number, Claimed<number>>();
  const reconcile = createSerialRunner(async () => {
    const desired = signal.aborted
      ? []
      : await claimAddresses(options, octets, [...services.store.values()]);
    const before = new Set(relays.keys());
    const didChange = await adjust(relays, desired, options);
    for (const [key, { state }] of relays) {
      const service = services.store.get(state.service);
      const event = before.has(key) ? undefined : warningOf(state);
      if (service === undefined || event === undefined) continue;
      events.record(service, { type: 'Warning', ...event });
    }
    if (didChange) options.changed([...relays.values()].map(({ state }) => state));
  });
  await services.synced();
  services.onChange({
    add: reconcile.request,
    update: reconcile.request,
    delete: reconcile.request,
  });
  let cancel = (): void => {};
  const retry = (): void => {
    if ([...relays.values()].some(({ listener }) => listener === undefined)) reconcile.request();
    cancel = clock.after(retryMs, retry);
  };
  retry();
  await services.ended;
  cancel();
  reconcile.request();
  await reconcile.done();
}

function warningOf({ purpose, listen, problem, isShared }: RelayState) {
  const address = endpointText(listen);
  if (problem !== undefined) {
    const message = `Cannot listen for its ${purpose} on ${address}: ${problem}`;
    return { reason: 'RelayListenFailed', message };
  }
  if (isShared !== true) return undefined;
  const message = `Its ${purpose} is at ${address}: ${sharedText}`;
  return { reason: 'LoopbackAddressShared', message };
}

const endpointText = ({ host, port }: Endpoint): string => `${host}:${port}`;

/** Desired relays on loopback addresses that no other cluster of this machine has, or that are marked as shared. */
async function claimAddresses(
  options: RelaysOptions,
  octets: Map<number, Claimed<number>>,
  services: readonly Service[],
): Promise<readonly DesiredRelay[]> {
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

/** Returns whether anything changed. A relay that cannot listen does not affect the others. */
async function adjust(
  relays: Map<string, Opened>,
  desired: readonly DesiredRelay[],
  options: RelaysOptions,
): Promise<boolean> {
  const byKey = new Map(desired.map((relay) => [relay.key, relay]));
  let didChange = false;
  for (const [key, { desired: before, listener }] of [...relays]) {
    const after = byKey.get(key);
    const isSame = after !== undefined && JSON.stringify(after) === JSON.stringify(before);
    if (isSame && listener !== undefined) continue;
    await listener?.close();
    relays.delete(key);
    didChange ||= !isSame;
  }
  for (const relay of desired) {
    if (relays.has(relay.key)) continue;
    const result = await open(relay, options);
    relays.set(relay.key, result);
    didChange = true;
  }
  return didChange;
}

async function open(relay: DesiredRelay, options: RelaysOptions): Promise<Opened> {
  const { conflictsWith } = relay;
  if (conflictsWith !== undefined) {
    return { desired: relay, state: { ...relay, problem: `${conflictsWith} has it` } };
  }
  const shifted = { ...relay.listen, port: relay.listen.port + unprivilegedShift };
  try {
    return { desired: relay, state: relay, listener: await openAt(relay, relay.listen, options) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES') return { desired: relay, state: { ...relay, problem: message } };
  }
  try {
    const listener = await openAt(relay, shifted, options);
    return { desired: relay, state: { ...relay, listen: shifted }, listener };
  } catch (error) {
    return { desired: relay, state: { ...relay, problem: (error as Error).message } };
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

/** Runs `work` once at a time; requests during a run cause one more run. */
function createSerialRunner(work: () => Promise<void>) {
  let running: Promise<void> | undefined;
  let isRequested = false;
  const run = async (): Promise<void> => {
    while (isRequested) {
      isRequested = false;
      await work();
    }
    running = undefined;
  };
  return {
    request(): void {
      isRequested = true;
      running ??= run();
    },
    done: (): Promise<void> => running ?? Promise.resolve(),
  };
}
