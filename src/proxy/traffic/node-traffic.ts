// The answer of a node: counts by service port and endpoint, bounded in size.

import type {
  BytesCounted,
  EndpointTraffic,
  NodeTraffic,
  PortTraffic,
  TrafficRequest,
} from '../../kinds/part/traffic.ts';
import type { Endpoint, Family, ServicePort } from '../model/state.ts';
import type { FlowCount } from './count-flows.ts';

export type CountedPorts = {
  /** By number, as in `FlowCount.targetPort`. */
  readonly ports: readonly NumberedPort[];
  readonly counts: readonly FlowCount[];
};

export type NumberedPort = { readonly family: Family; readonly port: ServicePort };

/** What was measured, before the part of it is chosen that is wanted. */
export type Measured = Omit<NodeTraffic, 'omittedRows' | 'ageMs'>;

/** Port by port: at a hundred thousand endpoints, who calls it does something else in between. */
export function* portTraffic({ ports, counts }: CountedPorts): Generator<PortTraffic> {
  const byPort = new Map<number, FlowCount[]>();
  for (const count of counts) {
    const list = byPort.get(count.targetPort) ?? [];
    byPort.set(count.targetPort, list);
    list.push(count);
  }
  for (const [number, list] of byPort) {
    const port = ports[number];
    if (port !== undefined) yield onePort(port, list);
  }
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

/** The rows with the most traffic, as many as fit. */
export function selectPorts(
  ports: readonly PortTraffic[],
  { namespace, name, maxRows }: Omit<TrafficRequest, 'intervalMs'>,
): Pick<NodeTraffic, 'ports' | 'omittedRows'> {
  const matching = ports.filter(
    (port) =>
      (namespace === undefined || port.namespace === namespace) &&
      (name === undefined || port.name === name),
  );
  const rows = matching.reduce((sum, { endpoints }) => sum + endpoints.length, 0);
  if (rows <= maxRows) return { ports: matching, omittedRows: 0 };
  const weights = Float64Array.from(
    matching.flatMap(({ endpoints }) => endpoints.map(weightOf)),
  ).sort();
  const least = weights[rows - maxRows] ?? Number.POSITIVE_INFINITY;
  let equal = maxRows - weights.filter((weight) => weight > least).length;
  const selected = matching.flatMap((port) => {
    const endpoints = port.endpoints.filter((one) => {
      const weight = weightOf(one);
      if (weight === least) equal -= 1;
      return weight > least || (weight === least && equal >= 0);
    });
    return endpoints.length === 0 ? [] : [{ ...port, endpoints }];
  });
  const count = selected.reduce((sum, { endpoints }) => sum + endpoints.length, 0);
  return { ports: selected, omittedRows: rows - count };
}

/** Bytes, and where they are not counted, connections. */
const weightOf = ({ bytesIn, bytesOut, opened, tracked }: EndpointTraffic): number =>
  bytesIn + bytesOut + 1000 * opened + tracked;

export function bytesCounted(isAccounting: boolean, counts: readonly FlowCount[]): BytesCounted {
  const tracked = counts.reduce((sum, count) => sum + count.tracked, 0);
  const uncounted = counts.reduce((sum, count) => sum + count.uncounted, 0);
  if (tracked === 0) return isAccounting ? 'yes' : 'no';
  if (uncounted === 0) return 'yes';
  return uncounted === tracked && !isAccounting ? 'no' : 'partly';
}
