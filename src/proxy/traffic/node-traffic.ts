// The answer of a node: counts by service port and endpoint, bounded in size.

import type {
  BytesCounted,
  EndpointTraffic,
  NodeTraffic,
  PortTraffic,
} from '../../kinds/part/traffic.ts';
import type { Endpoint, Family, ServicePort } from '../model/state.ts';
import type { FlowCount } from './count-flows.ts';

export type CountedPorts = {
  /** By number, as in `FlowCount.targetPort`. */
  readonly ports: readonly NumberedPort[];
  readonly counts: readonly FlowCount[];
};

export type NumberedPort = { readonly family: Family; readonly port: ServicePort };

export type TrafficFilter = {
  /** Absent: of all namespaces. */
  readonly namespace?: string;
  readonly name?: string;
  /** Endpoints that the answer may have. */
  readonly maxRows?: number;
};

/** About a megabyte as JSON. */
const maxRows = 5000;

export function portTraffic({ ports, counts }: CountedPorts): readonly PortTraffic[] {
  const byPort = new Map<number, FlowCount[]>();
  for (const count of counts) {
    const list = byPort.get(count.targetPort) ?? [];
    byPort.set(count.targetPort, list);
    list.push(count);
  }
  return [...byPort].flatMap(([number, list]) => {
    const port = ports[number];
    return port === undefined ? [] : [onePort(port, list)];
  });
}

function onePort({ family, port }: NumberedPort, counts: readonly FlowCount[]): PortTraffic {
  const { namespace, name, portName, protocol } = port;
  const cluster = socketsOf(port.clusterEndpoints);
  const local = socketsOf(port.localEndpoints);
  const isEligible = ({ set, ip, port: at }: FlowCount): boolean =>
    (set !== 'local' && cluster.has(`${ip} ${at}`)) ||
    (set !== 'cluster' && local.has(`${ip} ${at}`));
  return {
    ...{ namespace, name, portName, family, protocol, port: port.port },
    eligible: { cluster: cluster.size, local: local.size },
    endpoints: counts.map((count): EndpointTraffic => {
      const { targetPort: _, ...rest } = count;
      return { ...rest, isEligible: isEligible(count) };
    }),
  };
}

const socketsOf = (endpoints: readonly Endpoint[]): ReadonlySet<string> =>
  new Set(endpoints.map(({ ip, port }) => `${ip} ${port}`));

/** Those with the most traffic, as many as fit. */
export function selectPorts(
  traffic: Omit<NodeTraffic, 'omittedPorts'>,
  { namespace, name, maxRows: rows = maxRows }: TrafficFilter,
): NodeTraffic {
  const matching = traffic.ports
    .filter(
      (port) =>
        (namespace === undefined || port.namespace === namespace) &&
        (name === undefined || port.name === name),
    )
    .map((port) => ({ port, weight: weightOf(port) }))
    .sort((a, b) => b.weight - a.weight);
  let room = rows;
  const ports = matching.flatMap(({ port }) => {
    room -= port.endpoints.length;
    return room >= 0 || room + port.endpoints.length === rows ? [port] : [];
  });
  return { ...traffic, ports, omittedPorts: matching.length - ports.length };
}

/** Bytes, and where they are not counted, connections. */
function weightOf({ endpoints }: PortTraffic): number {
  return endpoints.reduce(
    (sum, { bytesIn, bytesOut, tracked, opened }) =>
      sum + bytesIn + bytesOut + 1000 * opened + tracked,
    0,
  );
}

export function bytesCounted(isAccounting: boolean, counts: readonly FlowCount[]): BytesCounted {
  const tracked = counts.reduce((sum, count) => sum + count.tracked, 0);
  const uncounted = counts.reduce((sum, count) => sum + count.uncounted, 0);
  if (tracked === 0) return isAccounting ? 'yes' : 'no';
  if (uncounted === 0) return 'yes';
  return uncounted === tracked && !isAccounting ? 'no' : 'partly';
}
