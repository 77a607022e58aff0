// Which addresses and node ports a write allocates and releases, decided from the Service before and after. Whether
// they are free is for the allocators to check. The cases are upstream's (storage/alloc.go).
import { mayHaveNodePorts, needsClusterIP, needsHealthCheck, wantsNodePorts } from './needs.ts';
import { headlessIP, type IPFamily, type Service, type ServicePort } from './types.ts';

export type AddressRequest = {
  /** Index in clusterIPs. */
  readonly index: number;
  readonly family: IPFamily;
  /** Absent: any. */
  readonly address?: string;
};

export type AddressPlan = {
  readonly take: readonly AddressRequest[];
  readonly giveBack: readonly string[];
};

/** The families must be settled. Values that an update may not change are not allocated: validation rejects them. */
export function planAddresses(before: Service | undefined, after: Service): AddressPlan {
  if (before === undefined || !needsClusterIP(before)) {
    const isAddressed = needsClusterIP(after) && after.spec.clusterIPs?.[0] !== headlessIP;
    return { take: isAddressed ? addressRequests(after, 0) : [], giveBack: [] };
  }
  const held = clusterAddresses(before);
  if (held.length === 0) return { take: [], giveBack: [] };
  if (!needsClusterIP(after)) return { take: [], giveBack: held };
  const count = (service: Service): number => service.spec.ipFamilies?.length ?? 0;
  // Also when the first address changes to None: that is rejected, with both values in the message.
  if (count(before) === 1 && count(after) === 2) {
    return { take: addressRequests(after, 1), giveBack: [] };
  }
  const isReduced = count(before) === 2 && count(after) === 1;
  return { take: [], giveBack: isReduced ? held.slice(1) : [] };
}

/** The cluster IPs of the Service, none if headless. */
export function clusterAddresses(service: Service): readonly string[] {
  if (!needsClusterIP(service)) return [];
  return (service.spec.clusterIPs ?? []).filter((address) => address !== headlessIP);
}

function addressRequests(service: Service, from: number): readonly AddressRequest[] {
  const { clusterIPs = [], ipFamilies = [] } = service.spec;
  return ipFamilies
    .map((family, index) => {
      const address = clusterIPs[index];
      return { index, family, ...(address === undefined ? {} : { address }) };
    })
    .slice(from);
}

/** How a port gets its node port: a specific number, any number, or the number of an earlier port. */
export type PortRequest =
  | { readonly index: number; readonly nodePort: number }
  | { readonly index: number; readonly nodePort: 'any' }
  | { readonly index: number; readonly sameAs: number };

export type PortPlan = {
  readonly ports: readonly PortRequest[];
  /** Absent: no health check node port is allocated. */
  readonly healthCheck?: number | 'any';
};

export function planNodePorts(before: Service | undefined, after: Service): PortPlan {
  const isChecked = before !== undefined && needsHealthCheck(before);
  const healthCheck = after.spec.healthCheckNodePort ?? 'any';
  return {
    ports: mayHaveNodePorts(after) ? portRequests(before, after) : [],
    ...(needsHealthCheck(after) && !isChecked ? { healthCheck } : {}),
  };
}

/** All node ports of the Service, including healthCheckNodePort. */
export function nodePortsHeld(service: Service): readonly number[] {
  const { healthCheckNodePort } = service.spec;
  const isChecked = needsHealthCheck(service) && healthCheckNodePort !== undefined;
  return [...new Set([...portsHeld(service), ...(isChecked ? [healthCheckNodePort] : [])])];
}

function portsHeld(service: Service): readonly number[] {
  if (!mayHaveNodePorts(service)) return [];
  return (service.spec.ports ?? []).flatMap(({ nodePort }) => nodePort ?? []);
}

function portRequests(before: Service | undefined, after: Service): readonly PortRequest[] {
  const ports = after.spec.ports ?? [];
  const isWanted = ({ nodePort }: ServicePort): boolean =>
    nodePort !== undefined || wantsNodePorts(after);
  return before === undefined
    ? createRequests(ports, isWanted)
    : updateRequests(ports, isWanted, new Set(portsHeld(before)));
}

/** Ports with the same number and different protocols share a node port, unless they specify different ones. */
function createRequests(
  ports: readonly ServicePort[],
  isWanted: (port: ServicePort) => boolean,
): readonly PortRequest[] {
  const first = new Map<number, { readonly index: number; readonly nodePort: number | 'any' }>();
  const named = new Map<number, number>();
  for (const { port, nodePort } of ports) {
    if (nodePort !== undefined && !named.has(port)) named.set(port, nodePort);
  }
  const requests: PortRequest[] = [];
  for (const [index, port] of ports.entries()) {
    if (!isWanted(port)) continue;
    const earlier = first.get(port.port);
    if (earlier === undefined) {
      const request = { index, nodePort: named.get(port.port) ?? ('any' as const) };
      first.set(port.port, request);
      requests.push(request);
    } else if (port.nodePort === undefined) requests.push({ index, sameAs: earlier.index });
    else if (port.nodePort !== earlier.nodePort) requests.push({ index, nodePort: port.nodePort });
  }
  return requests;
}

/**
 * A number that another port of the Service already has is not allocated again. That of the health check is: the
 * allocation fails, which rejects the write.
 */
function updateRequests(
  ports: readonly ServicePort[],
  isWanted: (port: ServicePort) => boolean,
  held: Set<number>,
): readonly PortRequest[] {
  const requests: PortRequest[] = [];
  for (const [index, port] of ports.entries()) {
    const { nodePort } = port;
    if (!isWanted(port) || (nodePort !== undefined && held.has(nodePort))) continue;
    requests.push({ index, nodePort: nodePort ?? 'any' });
    if (nodePort !== undefined) held.add(nodePort);
  }
  return requests;
}
