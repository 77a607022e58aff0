// Arithmetic of resource lists, for quotas. Upstream: k8s.io/apiserver/pkg/quota/v1/resources.go.
import { addQuantities, compareQuantities } from '../../schema/quantity.ts';
import type { ResourceList } from '../pod/resources.ts';

/** Each quantity of `a` with that of `b` added; negative results are kept. */
export function addLists(a: ResourceList, b: ResourceList): ResourceList {
  const sum: Record<string, string> = { ...a };
  for (const [name, quantity] of Object.entries(b)) {
    const known = sum[name];
    sum[name] = known === undefined ? quantity : addQuantities(known, quantity);
  }
  return sum;
}

const negated = (quantity: string): string =>
  quantity.startsWith('-') ? quantity.slice(1) : quantity === '0' ? quantity : `-${quantity}`;

export function subtractLists(a: ResourceList, b: ResourceList): ResourceList {
  const entries = Object.entries(b).map(([name, quantity]) => [name, negated(quantity)] as const);
  return addLists(a, Object.fromEntries(entries));
}

export const withoutZeros = (list: ResourceList): ResourceList =>
  Object.fromEntries(
    Object.entries(list).filter(([, quantity]) => compareQuantities(quantity, '0') !== 0),
  );

export const onlyNames = (list: ResourceList, names: Iterable<string>): ResourceList => {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const quantity = list[name];
    if (quantity !== undefined) picked[name] = quantity;
  }
  return picked;
};

/** `pods=1,requests.cpu=500m`. */
export const listText = (list: ResourceList): string =>
  Object.keys(list)
    .sort()
    .map((name) => `${name}=${list[name]}`)
    .join(',');
