// The endpoints of a port: all that have connections, or could get some.
import { zoneLabel } from '../meta/well-known-labels.ts';
import type { SnapshotIndex } from '../snapshot/index-snapshot.ts';
import { type Comparison, endpointKey } from './compare-shares.ts';
import { type CountedRow, ratesOf } from './merge-traffic.ts';
import type { SliceEndpoint } from './slice-endpoints.ts';
import type { EndpointTraffic } from './top-services.ts';

export type EndpointFacts = {
  readonly rows: readonly CountedRow[];
  /** Absent: there is nothing to compare with. */
  readonly comparison?: Comparison | undefined;
  readonly about: ReadonlyMap<string, SliceEndpoint>;
  readonly index: SnapshotIndex;
};

/** Those with the most connections first. */
export function endpointRows(facts: EndpointFacts): readonly EndpointTraffic[] {
  const { rows, comparison } = facts;
  const used = new Set(comparison?.classes.flatMap(({ choices }) => [...choices]) ?? []);
  const byKey = new Map<string, CountedRow[]>(comparison?.usable.map((key) => [key, []]));
  for (const row of rows) {
    const key = endpointKey(row);
    const own = byKey.get(key);
    if (own === undefined) byKey.set(key, [row]);
    else own.push(row);
  }
  return [...byKey]
    .map(([key, own]) => endpointRow(key, { ...facts, rows: own }, used))
    .sort((a, b) => b.openConnections - a.openConnections || compareText(a.address, b.address));
}

function endpointRow(
  key: string,
  { rows, comparison, about, index }: EndpointFacts,
  used: ReadonlySet<string>,
): EndpointTraffic {
  const [address = '', port = ''] = key.split(' ');
  const { pod, node } = about.get(key) ?? {};
  const zone = node === undefined ? undefined : index.node(node)?.metadata.labels?.[zoneLabel];
  const share = comparison?.shares.get(key);
  return {
    ...{ address, port: Number(port), ...ratesOf(rows) },
    ...(pod === undefined ? {} : { pod }),
    ...(node === undefined ? {} : { node }),
    ...(zone === undefined ? {} : { zone }),
    isUsed: used.has(key) || rows.some(({ isEligible }) => isEligible),
    ...(share === undefined ? {} : { share }),
  };
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
