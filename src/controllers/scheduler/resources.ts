// What pods ask for and what nodes have. Amounts are thousandths, so that millicores stay whole.
import type { Container } from '../../kinds/pod/container.ts';
import { isRestartableInitContainer } from '../../kinds/pod/ports.ts';
import type { ResourceList } from '../../kinds/pod/resources.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { quantityValue } from '../../schema/quantity.ts';
import type { NodeState } from './cluster.ts';

type Amounts = ReadonlyMap<string, number>;

/** Requests never change but with the pod itself; a copy of a pod is looked at for every other pod. */
const known = new WeakMap<Pod, Amounts>();

/** Containers run together; init containers one after the other, beside the sidecars started before them. */
export function requestsOf(pod: Pod): Amounts {
  const before = known.get(pod);
  if (before !== undefined) return before;
  const { containers, initContainers = [], overhead, resources } = pod.spec;
  let sidecars: Amounts = new Map();
  let start: Amounts = new Map();
  for (const container of initContainers) {
    if (isRestartableInitContainer(container)) sidecars = sum(sidecars, requested(container));
    start = largest(
      start,
      isRestartableInitContainer(container) ? sidecars : sum(sidecars, requested(container)),
    );
  }
  const running = (containers ?? []).map(requested).reduce(sum, sidecars);
  // What is said of the pod as a whole counts instead of what its containers say.
  const whole = new Map([...largest(running, start), ...amountsOf(resources?.requests)]);
  const requests = sum(whole, amountsOf(overhead));
  known.set(pod, requests);
  return requests;
}

const requested = ({ resources }: Container): Amounts => amountsOf(resources.requests);

function amountsOf(list: ResourceList = {}): Amounts {
  return new Map(
    Object.entries(list).map(([name, amount]) => [name, Math.ceil(quantityValue(amount) * 1000)]),
  );
}

function sum(a: Amounts, b: Amounts): Amounts {
  return combined(a, b, (x, y) => x + y);
}

function largest(a: Amounts, b: Amounts): Amounts {
  return combined(a, b, Math.max);
}

function combined(a: Amounts, b: Amounts, join: (x: number, y: number) => number): Amounts {
  const all = new Map(a);
  for (const [name, amount] of b) all.set(name, join(all.get(name) ?? 0, amount));
  return all;
}

/** In one map, because nodes have many pods. */
function totalOf(pods: readonly Pod[]): Amounts {
  const total = new Map<string, number>();
  for (const pod of pods) {
    for (const [name, amount] of requestsOf(pod)) total.set(name, (total.get(name) ?? 0) + amount);
  }
  return total;
}

/** Nodes that say nothing of these have no limit that we know of; of anything else they have none. */
const assumedPlenty = new Set(['cpu', 'memory', 'ephemeral-storage', 'pods']);

/** What the node lacks for the pod, in the words of the scheduler. */
export function shortages(pod: Pod, { node, pods }: NodeState): readonly string[] {
  const { allocatable, capacity } = node.status;
  const has = amountsOf(allocatable ?? capacity);
  const used = totalOf(pods);
  const most = has.get('pods');
  const tooMany = most !== undefined && (pods.length + 1) * 1000 > most ? ['Too many pods'] : [];
  const lacking = [...requestsOf(pod)]
    .filter(([name, amount]) => {
      const total = has.get(name) ?? (assumedPlenty.has(name) ? Number.POSITIVE_INFINITY : 0);
      return amount > 0 && (used.get(name) ?? 0) + amount > total;
    })
    .map(([name]) => `Insufficient ${name}`);
  return [...tooMany, ...lacking];
}

/** How much of cpu and memory stays free with the pod there, 0 to 100; nodes without limits stay empty. */
export function freeShare(pod: Pod, { node, pods }: NodeState): number {
  const has = amountsOf(node.status.allocatable ?? node.status.capacity);
  const used = sum(totalOf(pods), requestsOf(pod));
  const shares = ['cpu', 'memory'].map((name) => {
    const total = has.get(name) ?? 0;
    return total === 0 ? 100 : Math.max(0, 100 * (1 - (used.get(name) ?? 0) / total));
  });
  return shares.reduce((a, b) => a + b, 0) / shares.length;
}
