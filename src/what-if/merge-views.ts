// Views that differ in nothing but port, family and clients, as one: for people.
import type { EndpointShares, View } from './what-if.ts';

export type MergedView = Pick<View, 'before' | 'meanwhile' | 'after' | 'endpoints' | 'zones'> & {
  /** Whose view it is: ports and clients, such as `80/TCP http, all clients`. */
  readonly titles: readonly string[];
};

/** First over ports for the same clients, then over clients: nothing is claimed that is not so. */
export function mergeViews(views: readonly View[]): readonly MergedView[] {
  const overPorts = grouped(views, (view) => keyOf(view, view.clients)).map((some) => ({
    view: some[0],
    title: `${[...new Set(some.map(portText))].join(', ')}, ${some[0].clients.sentence}`,
  }));
  return grouped(overPorts, ({ view }) => keyOf(view, undefined)).map((some) => ({
    ...some[0].view,
    titles: some.map(({ title }) => title),
  }));
}

type Group<T> = readonly [T, ...T[]];

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): readonly Group<T>[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const one of all) {
    const key = keyOf(one);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [one]);
    else known.push(one);
  }
  return [...groups.values()];
}

function keyOf({ before, meanwhile, after, endpoints }: View, also: unknown): string {
  return JSON.stringify([before, meanwhile, after, endpoints.map(withoutPort), also]);
}

const portText = ({ port, protocol, portName }: View): string =>
  `${port}/${protocol}${portName === undefined ? '' : ` ${portName}`}`;

/** Pods are the same in both families; other endpoints are their addresses. */
const withoutPort = ({ pod, address, node, zone, before, after }: EndpointShares) => [
  pod ?? address,
  ...[node, zone, before, after],
];
