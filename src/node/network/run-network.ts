// The network of pods on this node: a namespace for each, on a bridge; see README.md of the node agent.
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
import { type HostPort, hostPortsOf, takenPort } from './host-ports.ts';
import type { PodAttachment, PodNetwork } from './pod-network.ts';
import { endStaleFlows } from './remove-stale-flows.ts';
import { type AttachedPod, createNodeSync, type NodeSync } from './run-node-sync.ts';

export type BridgeNetworkOptions = {
  /** May list and watch all Nodes. The identity of a node may not: it sees only itself; that of a proxy may. */
  readonly caller: ApiCaller;
  readonly log: Log;
  readonly nodeName: string;
  /** What pods with `hostNetwork` have. */
  readonly nodeIPs: readonly string[];
  readonly clock?: Clock;
  /** Name of the bridge; `fairlead0` unless told otherwise. */
  readonly bridge?: string;
  /** Of the pods' interfaces; absent: that of the interface with the node's address. */
  readonly mtu?: number;
};

/** The machine does not let this process make networks. */
export class NetworkNotAllowedError extends Error {
  override readonly name = 'NetworkNotAllowedError';
}

const defaultBridge = 'fairlead0';

/**
 * Acts on the network namespace of the calling thread, for good: call it after the thread has stepped into the node's. Resolves when
 * leftovers of an earlier run are gone; pods get addresses as soon as the Node has podCIDRs. The signal ends what follows the
 * Nodes; `stop` takes back what was made.
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
  const inOrder = createQueue();
  const sync = createNodeSync({
    route,
    rules,
    bridge,
    mtu,
    nodeName,
    attached,
    inOrder,
    clock,
    log,
  });
  await sync.removeLeftovers();
  const stopping = new AbortController();
  const ending = AbortSignal.any([signal, stopping.signal]);
  const nodes = startInformer({ caller, type: nodeDefinition, clock, log }, ending);
  const following = sync.follow(nodes, ending);
  const pool = createAddressPool();
  const formerPorts = new Map<string, string>();
  const place: Place = { route, rules, bridge, mtu, nodeIPs, attached, formerPorts, pool, sync };
  return {
    adopt(pods) {
      for (const pod of pods) {
        if (pod.spec.hostNetwork === true || isPodFinished(pod)) continue;
        const ips = (pod.status.podIPs ?? []).map(({ ip }) => ip);
        pool.reserve(pod.metadata.uid ?? '', ips);
      }
    },
    addPod: (pod) => inOrder(() => addPod(place, pod)),
    removePod: (uid) => inOrder(() => removePod(place, uid)),
    problem: sync.problem,
    onProblemChange: sync.onProblemChange,
    reportsCondition: true,
    async stop() {
      stopping.abort();
      await Promise.all([nodes.ended, following]);
      try {
        for (const uid of [...attached.keys()]) await inOrder(() => removePod(place, uid));
        await sync.removeAll();
      } catch (error) {
        log.warn('the network of pods was not taken back whole', { error: String(error) });
      }
      await rules.close();
      await route.close();
    },
  };
}

type Place = Pick<BridgeNetworkOptions, 'nodeIPs'> & {
  readonly route: Parameters<typeof attachPod>[0];
  readonly rules: Awaited<ReturnType<typeof openRules>>;
  readonly bridge: string;
  readonly mtu: number;
  readonly attached: Map<string, AttachedPod>;
  /** By address: the interface of the pod that had it last. */
  readonly formerPorts: Map<string, string>;
  readonly pool: ReturnType<typeof createAddressPool>;
  readonly sync: NodeSync;
};

async function addPod(place: Place, pod: Pod): Promise<PodAttachment> {
  const { route, bridge, mtu, nodeIPs, attached, pool, sync } = place;
  if (pod.spec.hostNetwork === true) return { ips: nodeIPs };
  const { uid = '', namespace, name } = pod.metadata;
  const known = attached.get(uid);
  if (known !== undefined) return known.attachment;
  const problem = sync.problem();
  if (problem !== undefined) throw new Error(problem);
  const ranges = sync.ranges();
  const ips = pool.take(uid, ranges);
  try {
    const hostPorts = hostPortsOf(pod, ips);
    requireFree(place, hostPorts);
    await clearAddresses(place, ips);
    const port = portName(uid);
    const gateways = ranges.map(gatewayOf);
    const { path, release } = await attachPod(route, { port, bridge, mtu, ips, gateways });
    const attachment = { ips, namespacePath: path };
    const label = `${namespace}/${name}`;
    attached.set(uid, { port, attachment, hostPorts, name: label, ranges, release });
    await changePorts(place, hostPorts, true);
    return attachment;
  } catch (error) {
    await removePod(place, uid);
    throw error;
  }
}

/** Something may still hold the namespace of the pod that had the address, and would answer in the new one's place. */
async function clearAddresses(
  { route, formerPorts }: Place,
  ips: readonly string[],
): Promise<void> {
  for (const ip of ips) {
    const port = formerPorts.get(ip);
    if (port !== undefined) await deleteLink(route, port);
    formerPorts.delete(ip);
  }
}

function requireFree({ attached, rules }: Place, wanted: readonly HostPort[]): void {
  if (wanted.length === 0) return;
  if (rules.problem !== undefined) {
    throw new Error(`Cannot lead ports of the node to pods: ${rules.problem}`);
  }
  for (const { name, hostPorts } of attached.values()) {
    const taken = takenPort(wanted, hostPorts);
    if (taken === undefined) continue;
    const { port, protocol } = taken;
    throw new Error(`Cannot use host port ${port}/${protocol.toUpperCase()}: pod ${name} has it`);
  }
}

/**
 * With the namespace its cable goes, as soon as the kernel gets to it, and many at once: deleting each would wait tens of milliseconds.
 * What something still holds open is found by the next check.
 */
async function removePod(place: Place, uid: string): Promise<void> {
  const { attached, formerPorts, pool } = place;
  const pod = attached.get(uid);
  if (pod !== undefined) {
    attached.delete(uid);
    pod.release();
    for (const ip of pod.attachment.ips) formerPorts.set(ip, pod.port);
    await changePorts(place, pod.hostPorts, false);
  }
  pool.release(uid);
}

async function changePorts(
  { route, sync }: Place,
  ports: readonly HostPort[],
  hasCome: boolean,
): Promise<void> {
  if (ports.length === 0) return;
  await sync.writeRules();
  await endStaleFlows(route, ports, hasCome);
}

/** One thing after the other: what is read of the kernel must still hold when it is changed. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let tail: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = tail.then(work);
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
      `Cannot make networks for pods: ${why}. It takes root, or a user namespace of one's own (CAP_SYS_ADMIN and CAP_NET_ADMIN).`,
      { cause },
    );
  }
}
