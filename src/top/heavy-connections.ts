// A few connections that carry most of the bytes of an endpoint: connections may be spread evenly where bytes are not.
import type { SkewFacts } from './causes.ts';
import { endpointKey } from './compare-shares.ts';
import type { CountedRow } from './merge-traffic.ts';
import type { Cause } from './top-services.ts';

export type Heavy = { readonly key: string; readonly factor: number; readonly cause: Cause };

/** Below that, a single answer would stand out. */
const minBytesPerSecond = 10_000;
const minByteFactor = 1.5;

/**
 * Bytes are no sample: what one connection carries says nothing about the next one, so there is no interval to compute. An endpoint is named
 * when a few connections carry most of its bytes, and without them it would not stand out.
 */
export function heavyConnections({ rows, comparison, nameOf }: SkewFacts): Heavy | undefined {
  const bytes = new Map<string, number>();
  const aSecond = ({ bytesIn, bytesOut, intervalMs }: CountedRow): number =>
    ((bytesIn + bytesOut) * 1000) / intervalMs;
  for (const row of rows)
    bytes.set(endpointKey(row), (bytes.get(endpointKey(row)) ?? 0) + aSecond(row));
  const total = [...bytes.values()].reduce((all, one) => all + one, 0);
  const even = total / comparison.usable.length;
  const [key, most] = [...bytes].reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0] as const);
  if (total < minBytesPerSecond || comparison.usable.length < 2) return undefined;
  if (!comparison.usable.includes(key) || most < minByteFactor * even) return undefined;
  const connections = rows
    .filter((row) => endpointKey(row) === key)
    .flatMap(({ busiest, intervalMs }) =>
      busiest.map((one) => ({ ...one, aSecond: (one.bytes * 1000) / intervalMs })),
    )
    .sort((a, b) => b.aSecond - a.aSecond);
  const few = minThatExplains(connections, most, even);
  if (few === undefined) return undefined;
  const share = Math.round((few.reduce((all, one) => all + one.aSecond, 0) / most) * 100);
  const clients = few.map(({ client }) => client).join(', ');
  const are = few.length === 1 ? 'the connection of' : `${few.length} connections, of`;
  return {
    key,
    factor: Math.round((most / even) * 100) / 100,
    cause: {
      code: 'heavy-connections',
      evidence: `${are} ${clients} ${few.length === 1 ? 'carries' : 'carry'} ${share}% of the bytes of ${nameOf(key)}`,
    },
  };
}

type Busy = { readonly client: string; readonly aSecond: number };

/** Without them, the endpoint would not stand out. */
function minThatExplains(
  connections: readonly Busy[],
  bytes: number,
  even: number,
): readonly Busy[] | undefined {
  let rest = bytes;
  for (const [at, { aSecond }] of connections.entries()) {
    rest -= aSecond;
    if (rest < minByteFactor * even && bytes - rest > bytes / 2)
      return connections.slice(0, at + 1);
  }
  return undefined;
}
