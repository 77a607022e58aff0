// Resource requests of a pod. Quantities are in thousandths, so that millicores are whole numbers.
import { quantityValue } from '../../schema/quantity.ts';
import type { Container } from './container.ts';
import { isRestartableInitContainer } from './ports.ts';
import type { ResourceList } from './resources.ts';
import type { Pod } from './types.ts';

export type Quantities = ReadonlyMap<string, number>;

/** Cached by pod object: requests are read for every other pod on the node. */
const known = new WeakMap<Pod, Quantities>();

/** Containers run concurrently; init containers one after the other, beside the sidecars that started before them. */
export function requestsOf(pod: Pod): Quantities {
  const before = known.get(pod);
  if (before !== undefined) return before;
  const { containers, initContainers = [], overhead, resources } = pod.spec;
  let sidecars: Quantities = new Map();
  let start: Quantities = new Map();
  for (const container of initContainers) {
    if (isRestartableInitContainer(container)) sidecars = sum(sidecars, requested(container));
    start = largest(
      start,
      isRestartableInitContainer(container) ? sidecars : sum(sidecars, requested(container)),
    );
  }
  const running = (containers ?? []).map(requested).reduce(sum, sidecars);
  // Pod-level requests replace those of the containers.
  const whole = new Map([...largest(running, start), ...quantitiesOf(resources?.requests)]);
  const requests = sum(whole, quantitiesOf(overhead));
  known.set(pod, requests);
  return requests;
}

const requested = ({ resources }: Container): Quantities => quantitiesOf(resources.requests);

export function quantitiesOf(list: ResourceList = {}): Quantities {
  return new Map(
    Object.entries(list).map(([name, quantity]) => [
      name,
      Math.ceil(quantityValue(quantity) * 1000),
    ]),
  );
}

export function sum(a: Quantities, b: Quantities): Quantities {
  return combined(a, b, (x, y) => x + y);
}

function largest(a: Quantities, b: Quantities): Quantities {
  return combined(a, b, Math.max);
}

function combined(
  a: Quantities,
  b: Quantities,
  join: (x: number, y: number) => number,
): Quantities {
  const all = new Map(a);
  for (const [name, quantity] of b) all.set(name, join(all.get(name) ?? 0, quantity));
  return all;
}
