// Measures the traffic of Services on request. One measurement serves all requests that come meanwhile, and there is a pause after
// it that grows with the size of the kernel's table; requests wait for its end. Nothing runs otherwise.
import { type Clock, sleep } from '../../host/clock.ts';
import { yieldWhenDue } from '../../host/yield-when-due.ts';
import { maxTextLength, type NodeTraffic, type TrafficRequest } from '../../kinds/part/traffic.ts';
import type { ProxyState } from '../model/state.ts';
import {
  bytesCounted,
  type Measured,
  type NumberedPort,
  portTraffic,
  selectPorts,
} from './node-traffic.ts';
import type { CountedFlows, ReadFlowsOptions } from './read-flows.ts';
import { countRelayed, type FamilyRelayed, relayedPortKey } from './relayed.ts';
import { addTarget, type FlowTargets, makeTargets } from './targets.ts';

export type MeterOptions = {
  readonly clock: Clock;
  readonly mode: string;
  /** What chooses endpoints where that is not meant to be even. */
  readonly scheduler: () => string | undefined;
  /** Of each family, as last written; empty before the first write. */
  readonly states: () => readonly ProxyState[];
  /** All addresses of this machine. */
  readonly nodeAddresses: () => Iterable<string>;
  /** Protocols that the mode relays itself: the kernel knows only the way to the relay. */
  readonly relayedProtocols: readonly string[];
  readonly relayed: () => Promise<readonly FamilyRelayed[]>;
  readonly readFlows: (options: ReadFlowsOptions) => Promise<CountedFlows>;
};

export type TrafficMeter = {
  /** Rejects where connections cannot be counted, with the reason. */
  readonly measure: (request: TrafficRequest) => Promise<NodeTraffic>;
};

/** Between the end of a measurement and the start of the next. */
const minPauseMs = 1000;
/** Listing takes at most a tenth of a processor. */
const pauseFactor = 9;
/** Who comes in a pause waits for its end; in a longer one, the answer is the previous one, with its age. */
const maxWaitMs = 3000;

export function createTrafficMeter(options: MeterOptions, signal: AbortSignal): TrafficMeter {
  const { clock } = options;
  /** One that waits or runs. */
  let current: Promise<Finished> | undefined;
  /** The last one that succeeded. */
  let last: Finished | undefined;
  let pauseEndsAt = 0;

  const start = async (intervalMs: number): Promise<Finished> => {
    const waitMs = pauseEndsAt - clock.now();
    if (waitMs > 0) await sleep(clock, waitMs, signal);
    let busyMs = 0;
    last = undefined;
    try {
      const result = await measureOnce(options, intervalMs, signal);
      busyMs = result.busyMs;
      last = { measured: result.measured, finishedAt: clock.now() };
      return last;
    } finally {
      current = undefined;
      pauseEndsAt = clock.now() + Math.max(minPauseMs, busyMs * pauseFactor);
    }
  };
  const next = (intervalMs: number): Promise<Finished> | Finished => {
    const isLongPause = current === undefined && pauseEndsAt - clock.now() > maxWaitMs;
    if (isLongPause && last !== undefined) return last;
    current ??= start(intervalMs);
    return current;
  };
  return {
    async measure({ intervalMs, ...wanted }) {
      const { measured, finishedAt } = await next(intervalMs);
      const ageMs = Math.max(0, clock.now() - finishedAt);
      return fitting({ ...measured, ageMs }, wanted);
    },
  };
}

/** Long names make long answers: then fewer rows fit. */
function fitting(
  measured: Measured & Pick<NodeTraffic, 'ageMs'>,
  wanted: Omit<TrafficRequest, 'intervalMs'>,
): NodeTraffic {
  for (let { maxRows } = wanted; ; maxRows = Math.floor(maxRows / 2)) {
    const traffic = { ...measured, ...selectPorts(measured.ports, { ...wanted, maxRows }) };
    const isShort = maxRows === 0 || JSON.stringify(traffic.ports).length < maxPortsText;
    if (isShort) return traffic;
  }
}

const maxPortsText = maxTextLength - 1000;

type Finished = { readonly measured: Measured; readonly finishedAt: number };
type Numbered = { readonly targets: FlowTargets; readonly ports: readonly NumberedPort[] };

async function measureOnce(
  options: MeterOptions,
  intervalMs: number,
  signal: AbortSignal,
): Promise<{ readonly measured: Measured; readonly busyMs: number }> {
  const { clock, mode, relayed, relayedProtocols } = options;
  const states = options.states();
  const families = states.map((state) => state.node.family);
  const { targets, ports } = await numberPorts(options, states);
  const wait = (): Promise<void> => sleep(clock, intervalMs, signal);
  const startedAt = clock.now();
  const before = await relayed();
  const flows: CountedFlows =
    ports.length === 0
      ? await wait().then(() => ({ ...noFlows, intervalMs: clock.now() - startedAt }))
      : await options.readFlows({ families, targets, now: clock.now, wait });
  const after = relayedProtocols.length === 0 ? [] : await relayed();
  const ofRelays = countRelayed({ before, after, ports: relayedPorts(states, after) });
  const scheduler = options.scheduler();
  const measured: Measured = {
    ...{ mode, ...(scheduler === undefined ? {} : { scheduler }) },
    // A clock that was set back meanwhile.
    intervalMs: Math.max(1, flows.intervalMs),
    bytesCounted: ports.length === 0 ? 'yes' : bytesCounted(flows.isAccounting, flows.rows),
    ports: [
      ...(await collected(portTraffic({ ports, counts: flows.rows }))),
      ...(await collected(portTraffic(ofRelays))),
    ],
    isPartial: flows.isPartial,
  };
  return { measured, busyMs: flows.busyMs };
}

const noFlows: Omit<CountedFlows, 'intervalMs'> = {
  ...{ rows: [], isPartial: false, isAccounting: true, busyMs: 0 },
};

async function collected<T>(all: Iterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for (const one of all) {
    list.push(one);
    await yieldWhenDue();
  }
  return list;
}

/** Those that the kernel forwards itself. Ten thousand Services are numbered in slices. */
async function numberPorts(
  { nodeAddresses, relayedProtocols }: MeterOptions,
  states: readonly ProxyState[],
): Promise<Numbered> {
  const ofStates = states.flatMap(({ node }) => node.nodeIPs);
  const targets = makeTargets(new Set([...nodeAddresses(), ...ofStates]));
  const ports: NumberedPort[] = [];
  for (const state of states) {
    for (const port of state.ports.values()) {
      if (relayedProtocols.includes(port.protocol)) continue;
      addTarget(targets, port, state.node);
      ports.push({ family: state.node.family, port });
      await yieldWhenDue();
    }
  }
  return { targets, ports };
}

/** Only those that are needed: nothing is copied at ten thousand Services. */
function relayedPorts(
  states: readonly ProxyState[],
  connections: readonly FamilyRelayed[],
): ReadonlyMap<string, NumberedPort> {
  const found = new Map<string, NumberedPort>();
  for (const { family, portKey } of connections) {
    const port = states.find(({ node }) => node.family === family)?.ports.get(portKey);
    if (port !== undefined) found.set(relayedPortKey(family, portKey), { family, port });
  }
  return found;
}
