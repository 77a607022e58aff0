// Keeps the node's side of the network in step with the Nodes of the cluster: bridge, routes to other nodes, rules.
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

/** What is known of a pod on the bridge. */
export type AttachedPod = {
  /** Its interface on the node's side. */
  readonly port: string;
  readonly attachment: PodAttachment;
  readonly hostPorts: readonly HostPort[];
  /** For messages. */
  readonly name: string;
  /** Those that its addresses are of. */
  readonly ranges: readonly Cidr[];
  /** Lets go of its namespace. */
  readonly release: () => void;
};

export type NodeSync = {
  /** Interfaces of pods that an earlier run left. */
  readonly removeLeftovers: () => Promise<void>;
  /** Resolves when the signal has ended it. */
  readonly follow: (nodes: Informer<Node>, signal: AbortSignal) => Promise<void>;
  /** Where addresses of new pods come from; none while there is a problem. */
  readonly ranges: () => readonly Cidr[];
  readonly problem: () => string | undefined;
  readonly onProblemChange: (listener: () => void) => void;
  /** After host ports have come or gone. */
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
  readonly inOrder: <T>(work: () => Promise<T>) => Promise<T>;
  readonly clock: Clock;
  readonly log: Log;
};

/** How often what is there is compared with what should be: others change networks too. */
const checkMs = 60_000;
const retryMs = 2000;
const noRange = 'the node has no podCIDRs yet';

type State = {
  nodes: Informer<Node> | undefined;
  ranges: readonly Cidr[];
  /** As it was last carried out, to see whether anything changed. */
  applied: string | undefined;
  problem: string | undefined;
  readonly listeners: (() => void)[];
};

export function createNodeSync(options: NodeSyncOptions): NodeSync {
  const { route, rules, bridge, inOrder } = options;
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
      const ofPods = diffToNothing('', { links, bridgeAddresses: [], routes: [] });
      if (ofPods.length === 0) return;
      options.log.info('removed interfaces of an earlier run', { count: ofPods.length });
      await applyNetwork({ route, bridge, families: [] }, ofPods);
    },
    follow(nodes, signal) {
      state.nodes = nodes;
      const wakeUp = createWakeUp(options.clock, signal);
      const change = (): void => wakeUp.wake();
      nodes.onChange({ add: change, update: change, delete: change });
      return keepInStep(options, state, { wakeUp, inOrder, signal });
    },
    ranges: () => state.ranges,
    problem: () => state.problem,
    onProblemChange: (listener) => state.listeners.push(listener),
    writeRules: () => rules.write(wantedOf(options, state).rules),
    async removeAll() {
      await applyNetwork(
        { route, bridge, families: [] },
        diffToNothing(bridge, await readNetwork(route, bridge)),
      );
      await rules.remove();
    },
  };
}

type Following = {
  readonly wakeUp: ReturnType<typeof createWakeUp>;
  readonly inOrder: NodeSyncOptions['inOrder'];
  readonly signal: AbortSignal;
};

async function keepInStep(
  options: NodeSyncOptions,
  state: State,
  { wakeUp, inOrder, signal }: Following,
): Promise<void> {
  await state.nodes?.synced();
  let waitMs = checkMs;
  while (!signal.aborted) {
    const isCheck = wakeUp.isDue();
    try {
      const problem = await inOrder(() => syncOnce(options, state, isCheck));
      tell(options, state, problem);
      waitMs = checkMs;
    } catch (error) {
      state.applied = undefined;
      tell(options, state, error instanceof Error ? error.message : String(error));
      waitMs = retryMs;
    }
    await wakeUp.sleep(waitMs);
  }
}

/** Returns what keeps pods from starting. */
async function syncOnce(
  options: NodeSyncOptions,
  state: State,
  isCheck: boolean,
): Promise<string | undefined> {
  const { route, rules, bridge, nodeName, attached, log } = options;
  const own = state.nodes?.store.get(nodeName);
  // A Node that was deleted comes back; until then its pods go on as they are.
  if (own !== undefined) state.ranges = podRangesOf(own).filter(({ family }) => kernelHas(family));
  if (state.ranges.length === 0) return noRange;
  const wanted = wantedOf(options, state);
  const text = JSON.stringify(wanted);
  if (text === state.applied && !isCheck) return undefined;
  const ports = new Set([...attached.values()].map(({ port }) => port));
  const changes = diffNetwork(wanted, await readNetwork(route, bridge), ports);
  const families = state.ranges.map(({ family }) => family);
  const problems = await applyNetwork({ route, bridge, families }, changes);
  for (const problem of problems) log.warn('part of the network is missing', { problem });
  if (isCheck) await rules.check();
  await rules.write(wanted.rules);
  state.applied = problems.length === 0 ? text : undefined;
  log.debug('network in step', { changes: changes.length });
  return undefined;
}

function wantedOf(
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

function tell({ log }: NodeSyncOptions, state: State, problem: string | undefined): void {
  if (problem === state.problem) return;
  state.problem = problem;
  if (problem === undefined)
    log.info('pods have a network', { ranges: state.ranges.map(formatCidr) });
  else log.warn('pods have no network', { problem });
  for (const listener of state.listeners) listener();
}

/** Woken by changes and by time; knows which it was. */
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
