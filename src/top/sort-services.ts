// The order of the table. Equal ones are in the order of their names, so that a live view does not jump.
import type { ServiceTraffic, SkewVerdict } from './top-services.ts';

export const sortKeys = ['connections', 'bytes', 'name', 'skew'] as const;
export type SortKey = (typeof sortKeys)[number];

type Compare = (a: ServiceTraffic, b: ServiceTraffic) => number;

export function compareServices(key: SortKey): Compare {
  const first = comparisons[key];
  return (a, b) => first(a, b) || byName(a, b);
}

const byName: Compare = (a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const byConnections: Compare = (a, b) =>
  b.openConnections - a.openConnections || b.newPerSecond - a.newPerSecond;

const bytesOf = ({ bytesInPerSecond = 0, bytesOutPerSecond = 0 }: ServiceTraffic): number =>
  bytesInPerSecond + bytesOutPerSecond;

const verdicts: readonly SkewVerdict[] = ['skewed', 'unknown', 'too-few', 'even'];

/** How far from an even share, upwards or downwards. */
const skewOf = ({ skew }: ServiceTraffic): number => {
  const { verdict, factor = 1 } = skew;
  const at = verdicts.indexOf(verdict);
  return (at < 0 ? 0 : verdicts.length - at) * 1e9 + Math.min(Math.abs(factor - 1) * 1000, 1e8);
};

const comparisons: Readonly<Record<SortKey, Compare>> = {
  connections: byConnections,
  bytes: (a, b) => bytesOf(b) - bytesOf(a) || byConnections(a, b),
  name: byName,
  skew: (a, b) => skewOf(b) - skewOf(a) || byConnections(a, b),
};
