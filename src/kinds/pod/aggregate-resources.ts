// The resources of all containers of a pod, as canonical quantities (upstream: component-helpers, AggregateContainerRequests).
import { addQuantities, compareQuantities } from '../../schema/quantity.ts';
import type { Container } from './container.ts';
import { isRestartableInitContainer } from './ports.ts';
import type { ResourceList } from './resources.ts';

type Containers = {
  readonly containers: readonly Container[] | null;
  readonly initContainers?: readonly Container[];
};

/** Containers run together; init containers one after the other, beside the sidecars started before them. */
export function aggregateResources(
  { containers, initContainers = [] }: Containers,
  kind: 'requests' | 'limits',
): ResourceList {
  let sidecars: ResourceList = {};
  let start: ResourceList = {};
  for (const container of initContainers) {
    const together = joined(sidecars, container.resources[kind], addQuantities);
    if (isRestartableInitContainer(container)) sidecars = together;
    start = joined(start, together, larger);
  }
  const running = (containers ?? []).reduce(
    (all, { resources }) => joined(all, resources[kind], addQuantities),
    {} as ResourceList,
  );
  return joined(joined(running, sidecars, addQuantities), start, larger);
}

const larger = (a: string, b: string): string => (compareQuantities(b, a) > 0 ? b : a);

function joined(
  a: ResourceList,
  b: ResourceList | undefined,
  join: (x: string, y: string) => string,
): ResourceList {
  const all = new Map(Object.entries(a));
  for (const [name, quantity] of Object.entries(b ?? {})) {
    const found = all.get(name);
    all.set(name, found === undefined ? quantity : join(found, quantity));
  }
  return Object.fromEntries(all);
}

type Pod = Containers & {
  readonly resources?: Partial<Record<'requests' | 'limits', ResourceList>>;
  readonly overhead?: ResourceList;
};

/** What the pod counts as a whole: what it sets for itself replaces the sums of its containers. Overhead comes on top. */
export function totalResources(pod: Pod, kind: 'requests' | 'limits'): ResourceList {
  const total = { ...aggregateResources(pod, kind), ...pod.resources?.[kind] };
  if (pod.overhead === undefined) return total;
  const overhead = Object.entries(pod.overhead).filter(
    ([name]) => kind === 'requests' || total[name] !== undefined,
  );
  return joined(total, Object.fromEntries(overhead), addQuantities);
}
