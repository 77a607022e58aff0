// Keeps the node's bridge, routes to other nodes and rules in sync with the Nodes of the cluster.
import type { Informer } from '../../client/informer.ts';
import { type Clock, sleep } from '../../host/clock.ts';
import type { Netlink } from '../../host/netlink/netlink.ts';
import { type Cidr, formatCidr } from '../../ip/cidr.ts';
import type { Node } from '../../kinds/node/types.ts';
import type { Log } from '../../observe/log.ts';
import { applyNetwork, readNetwork } from './apply-node-network.ts';
import type { PodRules } from './apply-rules.ts';
import { kernelHas } from './apply-settings.ts';
import { desiredNetwork, type NodeNetwork, podRangesOf } from './desired.ts';
import { diffNetwork, diffToNothing } from './diff.ts';
import type { HostPort } from './host-ports.ts';
import type { PodAttachment } from './pod-network.ts';

/** A pod on the bridge. */
export type AttachedPod = {
  /** Its interface on the node's side. */
  readonly port: string;
  readonly attachment: PodAttachment;
  readonly hostPorts: readonly HostPort[];
  /** For messages. */
  readonly name: string;
  /** The ranges of its addresses. */
  readonly ranges: readonly Cidr[];
  /** Releases its namespace. */
  readonly release: () => void;
};

export type NodeSync = {
  /** Removes interfaces of pods of a previous run. */
  readonly removeLeftovers: () => Promise<void>;
  /** Resolves when the signal aborts. */
  readonly follow: (nodes: Informer<Node>, signal: AbortSignal) => Promise<void>;
  /** Ranges for addresses of new pods; empty while there is a problem. */
  readonly ranges: () => readonly Cidr[];
  readonly problem: () => string | undefined;
  readonly onProblemChange: (listener: () => void) => void;
  /** Called after host ports have changed. */
  readonly writeRules: () => Promise<void>;
  readonly removeAll: () => Promise<void>;
};

export type NodeSyncOptions = {
  readonly route: Netlink;
  readonly rules: PodRules;
  readonly bridge: string;
  readonly mtu: number;
  readonly nodeName: string;
  readonly attached: ReadonlyMap<string, AttachedPod>;
  readonly serialize: <T>(work: () => Promise<T>) => Promise<T>;
  readonly clock: Clock;
  readonly log: Log;
};

/** How often the actual network is compared with the desired one: other programs may change it. */
const checkMs = 60_000;
const retryMs = 2000;
const noRange = 'the node has no podCIDRs yet';

type State = {
  nodes: Informer<Node> | undefined;
  ranges: readonly Cidr[];
  /** The network that was applied last, to detect changes. */
  applied: string | undefined;
  problem: string | undefined;
  readonly listeners: (() => void)[];
};

export function createNodeSync(options: NodeSyncOptions): NodeSync {
  const { route, rules, bridge, serialize } = options;
  const state: State = {
    nodes: undefined,
    ranges: [],
    applied: undefined,
    problem: noRange,
    listeners: [],
  };
  return {
    async removeLeftovers() {
      const { links } = await readNetwork(route, bridge);
      const podLinks = diffToNothing('', { links, bridgeAddresses: [], routes: [] });
      if (podLinks.length === 0) return;
      options.log.info('Removed interfaces of a previous run', { count: podLinks.length });
      await applyNetwork({ route, bridge, families: [] }, podLinks);
    },
    follow(nodes, signal) {
      state.nodes = nodes;
      const wakeUp = createWakeUp(options.clock, signal);
      const change = (): void => wakeUp.wake();
      nodes.onChange({ add: change, update: change, delete: change });
      return runSync(options, state, { wakeUp, serialize, signal });
    },
    ranges: () => state.ranges,
    problem: () => state.problem,
    onProblemChange: (listener) => state.listeners.push(listener),
    writeRules: () => rules.write(desiredOf(options, state).rules),
    async removeAll() {
      await applyNetwork(
        { route, bridge, families: [] },
        diffToNothing(bridge, await readNetwork(route, bridge)),
      );
      await rules.remove();
    },
  };
}

type SyncLoop = {
  readonly wakeUp: ReturnType<typeof createWakeUp>;
  readonly serialize: NodeSyncOptions['serialize'];
  readonly signal: AbortSignal;
};

async function runSync(
  options: NodeSyncOptions,
  state: State,
  { wakeUp, serialize, signal }: SyncLoop,
): Promise<void> {
  await state.nodes?.synced();
  let waitMs = checkMs;
  while (!signal.aborted) {
    const isCheck = wakeUp.isDue();
    try {
      const problem = await serialize(() => syncOnce(options, state, isCheck));
      setProblem(options, state, problem);
      waitMs = checkMs;
    } catch (error) {
      state.applied = undefined;
      setProblem(options, state, error instanceof Error ? error.message : String(error));
      waitMs = retryMs;
    }
    await wakeUp.sleep(waitMs);
  }
}

/** Returns why pods cannot have a network. */
async function syncOnce(
  options: NodeSyncOptions,
  state: State,
  isCheck: boolean,
): Promise<string | undefined> {
  const { route, rules, bridge, nodeName, attached, log } = options;
  const own = state.nodes?.store.get(nodeName);
  // A deleted Node is registered again; until then its pods keep running.
  if (own !== undefined) state.ranges = podRangesOf(own).filter(({ family }) => kernelHas(family));
  if (state.ranges.length === 0) return noRange;
  const wanted = desiredOf(options, state);
  const text = JSON.stringify(wanted);
  if (text === state.applied && !isCheck) return undefined;
  const ports = new Set([...attached.values()].map(({ port }) => port));
  const changes = diffNetwork(wanted, await readNetwork(route, bridge), ports);
  const families = state.ranges.map(({ family }) => family);
  const problems = await applyNetwork({ route, bridge, families }, changes);
  for (const problem of problems) log.warn('Failed to apply part of the network', { problem });
  if (isCheck) await rules.check();
  await rules.write(wanted.rules);
  state.applied = problems.length === 0 ? text : undefined;
  log.debug('Synced network', { changes: changes.length });
  return undefined;
}

function desiredOf(
  { nodeName, bridge: name, mtu, attached }: NodeSyncOptions,
  { nodes, ranges }: State,
): NodeNetwork {
  const pods = [...attached.values()];
  const used = [...ranges, ...pods.flatMap((pod) => pod.ranges)];
  return desiredNetwork({
    nodeName,
    nodes: nodes?.store.values() ?? [],
    ranges: [...new Map(used.map((range) => [formatCidr(range), range])).values()],
    hostPorts: pods.flatMap(({ hostPorts }) => hostPorts),
    bridge: { name, mtu },
  });
}

function setProblem({ log }: NodeSyncOptions, state: State, problem: string | undefined): void {
  if (problem === state.problem) return;
  state.problem = problem;
  if (problem === undefined)
    log.info('Pod network is ready', { ranges: state.ranges.map(formatCidr) });
  else log.warn('Pod network is not ready', { problem });
  for (const listener of state.listeners) listener();
}

/** `isDue()` says whether the last sleep ended by time, not by a change. */
function createWakeUp(clock: Clock, signal: AbortSignal) {
  let pending = new AbortController();
  let isDue = true;
  return {
    wake: (): void => pending.abort(),
    isDue: (): boolean => isDue,
    async sleep(ms: number): Promise<void> {
      await sleep(clock, ms, AbortSignal.any([pending.signal, signal]));
      isDue = !pending.signal.aborted;
      pending = new AbortController();
    },
  };
}
