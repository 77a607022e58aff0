// Requested and allocatable resources, and host ports.
import type { Node } from '../../kinds/node/types.ts';
import type { ContainerPort } from '../../kinds/pod/container.ts';
import { isRestartableInitContainer } from '../../kinds/pod/ports.ts';
import { type Quantities, quantitiesOf, requestsOf, sum } from '../../kinds/pod/requests.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { NodeState } from './cluster.ts';

/** By list of pods: a node is looked at for many pods before its own change. */
const knownTotals = new WeakMap<readonly Pod[], Quantities>();

/** One map for all pods, because nodes have many. */
function totalOf(pods: readonly Pod[]): Quantities {
  const known = knownTotals.get(pods);
  if (known !== undefined) return known;
  const total = new Map<string, number>();
  for (const pod of pods) {
    for (const [name, quantity] of requestsOf(pod))
      total.set(name, (total.get(name) ?? 0) + quantity);
  }
  knownTotals.set(pods, total);
  return total;
}

/** By node: every pod compares. */
const knownOffers = new WeakMap<Node, Quantities>();

function offeredBy(node: Node): Quantities {
  const known = knownOffers.get(node);
  if (known !== undefined) return known;
  const offered = quantitiesOf(node.status.allocatable ?? node.status.capacity);
  knownOffers.set(node, offered);
  return offered;
}

/** Without an allocatable quantity these count as unlimited, any other resource as absent. */
const assumedPlenty = new Set(['cpu', 'memory', 'ephemeral-storage', 'pods']);

/** Upstream's messages for the resources that the node lacks. */
export function shortages(pod: Pod, { node, pods }: NodeState): readonly string[] {
  const has = offeredBy(node);
  const used = totalOf(pods);
  const maxPods = has.get('pods');
  const tooMany =
    maxPods !== undefined && (pods.length + 1) * 1000 > maxPods ? ['Too many pods'] : [];
  const lacking = [...requestsOf(pod)]
    .filter(([name, quantity]) => {
      const total = has.get(name) ?? (assumedPlenty.has(name) ? Number.POSITIVE_INFINITY : 0);
      return quantity > 0 && (used.get(name) ?? 0) + quantity > total;
    })
    .map(([name]) => `Insufficient ${name}`);
  return [...tooMany, ...lacking];
}

/**
 * Average share of CPU and memory that stays free with the pod on the node, 0 to 100; nodes without quantities count
 * as empty.
 */
export function freeShare(pod: Pod, { node, pods }: NodeState): number {
  const has = offeredBy(node);
  const used = sum(totalOf(pods), requestsOf(pod));
  const shares = ['cpu', 'memory'].map((name) => {
    const total = has.get(name) ?? 0;
    return total === 0 ? 100 : Math.max(0, 100 * (1 - (used.get(name) ?? 0) / total));
  });
  return shares.reduce((a, b) => a + b, 0) / shares.length;
}

/** Whether one of the pods uses a host port that the pod requests. */
export function hasPortConflict(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return false;
  const used = others.flatMap(hostPortsOf);
  return wanted.some((port) => used.some((other) => conflict(port, other)));
}

function hostPortsOf({ spec }: Pod): readonly ContainerPort[] {
  const sidecars = (spec.initContainers ?? []).filter(isRestartableInitContainer);
  return [...(spec.containers ?? []), ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0);
}

function conflict(a: ContainerPort, b: ContainerPort): boolean {
  const isSamePort = a.hostPort === b.hostPort && (a.protocol ?? 'TCP') === (b.protocol ?? 'TCP');
  return isSamePort && (isAny(a.hostIP) || isAny(b.hostIP) || a.hostIP === b.hostIP);
}

const isAny = (address: string | undefined): boolean =>
  !address || address === '0.0.0.0' || address === '::';
