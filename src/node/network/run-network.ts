// The bridge network: each pod has a network namespace that is attached to a bridge; see README.md of the node agent.
import type { ApiCaller } from '../../client/api-call.ts';
import { startInformer } from '../../client/informer.ts';
import { type Clock, systemClock } from '../../host/clock.ts';
import { createNamespace } from '../../host/namespaces.ts';
import { openNetlink } from '../../host/netlink/netlink.ts';
import { deleteLink } from '../../host/netlink/route-links.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import { isPodFinished } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { Log } from '../../observe/log.ts';
import { createAddressPool, gatewayOf } from './address-pool.ts';
import { readMtu } from './apply-node-network.ts';
import { attachPod } from './apply-pod.ts';
import { openRules } from './apply-rules.ts';
import { portName } from './desired.ts';
import { conflictingPort, type HostPort, hostPortsOf } from './host-ports.ts';
import type { PodAttachment, PodNetwork } from './pod-network.ts';
import { removeStaleFlows } from './remove-stale-flows.ts';
import { type AttachedPod, createNodeSync, type NodeSync } from './run-node-sync.ts';

export type BridgeNetworkOptions = {
  /** Must be allowed to list and watch all Nodes, as a proxy is; a node may only read itself. */
  readonly caller: ApiCaller;
  readonly log: Log;
  readonly nodeName: string;
  /** Addresses of pods with `hostNetwork`. */
  readonly nodeIPs: readonly string[];
  readonly clock?: Clock;
  /** Name of the bridge; absent: `fairlead0`. */
  readonly bridge?: string;
  /** MTU of the pods' interfaces; absent: that of the interface with the node's address. */
  readonly mtu?: number;
};

/** This process may not create network namespaces. */
export class NetworkNotAllowedError extends Error {
  override readonly name = 'NetworkNotAllowedError';
}

const defaultBridge = 'fairlead0';

/**
 * Uses the network namespace of the calling thread: call it after the thread has entered that of the node. Resolves when leftovers of
 * a previous run are removed; pods get addresses as soon as the Node has podCIDRs. The signal stops the sync with Nodes; `stop` removes
 * everything.
 */
export async function createBridgeNetwork(
  options: BridgeNetworkOptions,
  signal: AbortSignal,
): Promise<PodNetwork> {
  const { caller, nodeName, nodeIPs, clock = systemClock, bridge = defaultBridge } = options;
  const log = options.log.with({ part: 'pod network' });
  requireRights();
  const route = await openNetlink({ protocol: 'route' });
  const mtu = options.mtu ?? (await readMtu(route, nodeIPs));
  const rules = await openRules(log);
  const attached = new Map<string, AttachedPod>();
  const serialize = createSerializer();
  const sync = createNodeSync({
    route,
    rules,
    bridge,
    mtu,
    nodeName,
    attached,
    serialize,
    clock,
    log,
  });
  await sync.removeLeftovers();
  const stopping = new AbortController();
  const ending = AbortSignal.any([signal, stopping.signal]);
  const nodes = startInformer({ caller, type: nodeDefinition, clock, log }, ending);
  const following = sync.follow(nodes, ending);
  const pool = createAddressPool();
  const previousPorts = new Map<string, string>();
  const podSide: PodSide = {
    route,
    rules,
    bridge,
    mtu,
    nodeIPs,
    attached,
    previousPorts,
    pool,
    sync,
  };
  return {
    adopt(pods) {
      for (const pod of pods) {
        if (pod.spec.hostNetwork === true || isPodFinished(pod)) continue;
        const ips = (pod.status.podIPs ?? []).map(({ ip }) => ip);
        pool.reserve(pod.metadata.uid ?? '', ips);
      }
    },
    addPod: (pod) => serialize(() => addPod(podSide, pod)),
    removePod: (uid) => serialize(() => removePod(podSide, uid)),
    problem: sync.problem,
    onProblemChange: sync.onProblemChange,
    reportsCondition: true,
    async stop() {
      stopping.abort();
      await Promise.all([nodes.ended, following]);
      try {
        for (const uid of [...attached.keys()]) await serialize(() => removePod(podSide, uid));
        await sync.removeAll();
      } catch (error) {
        log.warn('Failed to remove pod network', { error: String(error) });
      }
      await rules.close();
      await route.close();
    },
  };
}

type PodSide = Pick<BridgeNetworkOptions, 'nodeIPs'> & {
  readonly route: Parameters<typeof attachPod>[0];
  readonly rules: Awaited<ReturnType<typeof openRules>>;
  readonly bridge: string;
  readonly mtu: number;
  readonly attached: Map<string, AttachedPod>;
  /** By address: the interface of the pod that had it previously. */
  readonly previousPorts: Map<string, string>;
  readonly pool: ReturnType<typeof createAddressPool>;
  readonly sync: NodeSync;
};

async function addPod(podSide: PodSide, pod: Pod): Promise<PodAttachment> {
  const { route, bridge, mtu, nodeIPs, attached, pool, sync } = podSide;
  if (pod.spec.hostNetwork === true) return { ips: nodeIPs };
  const { uid = '', namespace, name } = pod.metadata;
  const known = attached.get(uid);
  if (known !== undefined) return known.attachment;
  const problem = sync.problem();
  if (problem !== undefined) throw new Error(problem);
  const ranges = sync.ranges();
  const ips = pool.allocate(uid, ranges);
  try {
    const hostPorts = hostPortsOf(pod, ips);
    requireFree(podSide, hostPorts);
    await clearAddresses(podSide, ips);
    const port = portName(uid);
    const gateways = ranges.map(gatewayOf);
    const { path, release } = await attachPod(route, { port, bridge, mtu, ips, gateways });
    const attachment = { ips, namespacePath: path };
    const label = `${namespace}/${name}`;
    attached.set(uid, { port, attachment, hostPorts, name: label, ranges, release });
    await changePorts(podSide, hostPorts, true);
    return attachment;
  } catch (error) {
    await removePod(podSide, uid);
    throw error;
  }
}

/** A process may still hold the namespace of the pod that had the address, and would respond instead of the new pod. */
async function clearAddresses(
  { route, previousPorts }: PodSide,
  ips: readonly string[],
): Promise<void> {
  for (const ip of ips) {
    const port = previousPorts.get(ip);
    if (port !== undefined) await deleteLink(route, port);
    previousPorts.delete(ip);
  }
}

function requireFree({ attached, rules }: PodSide, wanted: readonly HostPort[]): void {
  if (wanted.length === 0) return;
  if (rules.problem !== undefined) {
    throw new Error(`Cannot set up host ports: ${rules.problem}`);
  }
  for (const { name, hostPorts } of attached.values()) {
    const allocated = conflictingPort(wanted, hostPorts);
    if (allocated === undefined) continue;
    const { port, protocol } = allocated;
    throw new Error(
      `Cannot use host port ${port}/${protocol.toUpperCase()}: it is in use by pod ${name}`,
    );
  }
}

/**
 * The kernel deletes the veth pair with the namespace, asynchronously and in batches: deleting each would wait tens of milliseconds.
 * Those of namespaces that are still held are found by the next check.
 */
async function removePod(podSide: PodSide, uid: string): Promise<void> {
  const { attached, previousPorts, pool } = podSide;
  const pod = attached.get(uid);
  if (pod !== undefined) {
    attached.delete(uid);
    pod.release();
    for (const ip of pod.attachment.ips) previousPorts.set(ip, pod.port);
    await changePorts(podSide, pod.hostPorts, false);
  }
  pool.release(uid);
}

async function changePorts(
  { route, sync }: PodSide,
  ports: readonly HostPort[],
  isAdded: boolean,
): Promise<void> {
  if (ports.length === 0) return;
  await sync.writeRules();
  await removeStaleFlows(route, ports, isAdded);
}

/** Runs one task after the other: state read from the kernel must still be valid when it is changed. */
function createSerializer(): <T>(work: () => Promise<T>) => Promise<T> {
  let tail: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = tail.then(work);
    // The caller handles the error; the next task runs anyway.
    tail = result.catch(() => undefined);
    return result;
  };
}

function requireRights(): void {
  try {
    createNamespace().release();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new NetworkNotAllowedError(
      `Cannot create pod networks: ${why}. This needs root, or CAP_SYS_ADMIN and CAP_NET_ADMIN in a user namespace.`,
      { cause },
    );
  }
}
