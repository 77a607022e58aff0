// What pods ask for and what nodes have.
import { type Quantities, quantitiesOf, requestsOf, sum } from '../../kinds/pod/requests.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { NodeState } from './cluster.ts';

/** In one map, because nodes have many pods. */
function totalOf(pods: readonly Pod[]): Quantities {
  const total = new Map<string, number>();
  for (const pod of pods) {
    for (const [name, quantity] of requestsOf(pod))
      total.set(name, (total.get(name) ?? 0) + quantity);
  }
  return total;
}

/** Nodes that say nothing of these have no limit that we know of; of anything else they have none. */
const assumedPlenty = new Set(['cpu', 'memory', 'ephemeral-storage', 'pods']);

/** What the node lacks for the pod, in the words of the scheduler. */
export function shortages(pod: Pod, { node, pods }: NodeState): readonly string[] {
  const { allocatable, capacity } = node.status;
  const has = quantitiesOf(allocatable ?? capacity);
  const used = totalOf(pods);
  const most = has.get('pods');
  const tooMany = most !== undefined && (pods.length + 1) * 1000 > most ? ['Too many pods'] : [];
  const lacking = [...requestsOf(pod)]
    .filter(([name, quantity]) => {
      const total = has.get(name) ?? (assumedPlenty.has(name) ? Number.POSITIVE_INFINITY : 0);
      return quantity > 0 && (used.get(name) ?? 0) + quantity > total;
    })
    .map(([name]) => `Insufficient ${name}`);
  return [...tooMany, ...lacking];
}

/** How much of cpu and memory stays free with the pod there, 0 to 100; nodes without limits stay empty. */
export function freeShare(pod: Pod, { node, pods }: NodeState): number {
  const has = quantitiesOf(node.status.allocatable ?? node.status.capacity);
  const used = sum(totalOf(pods), requestsOf(pod));
  const shares = ['cpu', 'memory'].map((name) => {
    const total = has.get(name) ?? 0;
    return total === 0 ? 100 : Math.max(0, 100 * (1 - (used.get(name) ?? 0) / total));
  });
  return shares.reduce((a, b) => a + b, 0) / shares.length;
}
