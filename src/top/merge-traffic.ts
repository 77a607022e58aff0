// The answers of all nodes, by service port. Nothing is counted twice: a connection is counted by the node whose rules send it to an
// endpoint, where the kernel has its first destination and the one that answers. At the node of the endpoint it has one destination only.
import type {
  BytesCounted,
  EndpointTraffic,
  NodeTraffic,
  PortTraffic,
} from '../kinds/part/traffic.ts';
import type { MeasuredNode } from '../kinds/part/traffic-list.ts';
import type { Rates } from './top-services.ts';

/** Connections of one service port at one node to one endpoint. */
export type CountedRow = EndpointTraffic & {
  readonly node: string;
  readonly intervalMs: number;
  readonly bytesCounted: BytesCounted;
  readonly scheduler?: string;
};

export type CountedPort = Pick<
  PortTraffic,
  'namespace' | 'name' | 'portName' | 'family' | 'protocol' | 'port'
> & {
  readonly rows: readonly CountedRow[];
};

/** By `namespace/name`. */
export function mergeTraffic(
  nodes: readonly MeasuredNode[],
): ReadonlyMap<string, readonly CountedPort[]> {
  const services = new Map<string, Map<string, CountedPort & { readonly rows: CountedRow[] }>>();
  for (const one of nodes) {
    if (!('measured' in one)) continue;
    for (const port of one.measured.ports) {
      const key = `${port.namespace}/${port.name}`;
      const ports = services.get(key) ?? new Map();
      services.set(key, ports);
      const id = `${port.portName} ${port.protocol} ${port.family}`;
      const { eligible: _, endpoints, ...identity } = port;
      const known = ports.get(id) ?? { ...identity, rows: [] };
      ports.set(id, known);
      for (const row of endpoints) known.rows.push(rowOf(one.node, one.measured, row));
    }
  }
  return new Map([...services].map(([key, ports]) => [key, [...ports.values()]]));
}

function rowOf(
  node: string,
  { intervalMs, bytesCounted, scheduler }: NodeTraffic,
  row: EndpointTraffic,
): CountedRow {
  return {
    ...row,
    ...{ node, intervalMs, bytesCounted },
    ...(scheduler === undefined ? {} : { scheduler }),
  };
}

/** Rates of different nodes are added: each by the time that it measured. */
export function ratesOf(rows: readonly CountedRow[]): Rates {
  const total = (value: (row: CountedRow) => number): number =>
    rows.reduce((sum, row) => sum + value(row), 0);
  const aSecond = (count: number, { intervalMs }: CountedRow): number =>
    (count * 1000) / intervalMs;
  const hasBytes = rows.length === 0 || rows.some(({ bytesCounted }) => bytesCounted !== 'no');
  return {
    openConnections: total(({ open }) => open),
    unansweredConnections: total(({ unanswered }) => unanswered),
    newPerSecond: rounded(total((row) => aSecond(row.opened, row))),
    ...(hasBytes
      ? {
          bytesInPerSecond: Math.round(total((row) => aSecond(row.bytesIn, row))),
          bytesOutPerSecond: Math.round(total((row) => aSecond(row.bytesOut, row))),
        }
      : {}),
  };
}

const rounded = (value: number): number => Math.round(value * 100) / 100;

export function sumOfRates(all: readonly Rates[]): Rates {
  const total = (value: (one: Rates) => number): number =>
    all.reduce((sum, one) => sum + value(one), 0);
  const counting = all.filter(({ bytesInPerSecond }) => bytesInPerSecond !== undefined);
  return {
    openConnections: total(({ openConnections }) => openConnections),
    unansweredConnections: total(({ unansweredConnections }) => unansweredConnections),
    newPerSecond: rounded(total(({ newPerSecond }) => newPerSecond)),
    ...(counting.length === 0 && all.length > 0
      ? {}
      : {
          bytesInPerSecond: total(({ bytesInPerSecond = 0 }) => bytesInPerSecond),
          bytesOutPerSecond: total(({ bytesOutPerSecond = 0 }) => bytesOutPerSecond),
        }),
  };
}
