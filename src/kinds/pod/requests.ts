// What a pod asks for as a whole. Amounts are thousandths, so that millicores stay whole.
import { quantityValue } from '../../schema/quantity.ts';
import type { Container } from './container.ts';
import { isRestartableInitContainer } from './ports.ts';
import type { ResourceList } from './resources.ts';
import type { Pod } from './types.ts';

export type Amounts = ReadonlyMap<string, number>;

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

export function amountsOf(list: ResourceList = {}): Amounts {
  return new Map(
    Object.entries(list).map(([name, amount]) => [name, Math.ceil(quantityValue(amount) * 1000)]),
  );
}

export function sum(a: Amounts, b: Amounts): Amounts {
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
