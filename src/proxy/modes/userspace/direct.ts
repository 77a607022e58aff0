// Without a packet filter: relays listen on the addresses of Services, which a local route makes addresses of the node. Addresses
// with source ranges, which relays cannot enforce, stay closed.
import { parseAddress } from '../../../ip/address.ts';
import { containsAddress, parseCidr } from '../../../ip/cidr.ts';
import type { NodeState, ProxyState, ServicePort } from '../../model/state.ts';
import type { HostPort } from './relay-address.ts';
import type { RelayToOpen } from './relays.ts';

/** Relays of one port, each on an address of the service. */
export function directRelays(port: ServicePort, node: NodeState): readonly RelayToOpen[] {
  const { protocol, affinitySeconds } = port;
  if (protocol === 'SCTP') return [];
  const endpointsOf = (policy: ServicePort['internalPolicy']): readonly HostPort[] =>
    (policy === 'Local' ? port.localEndpoints : port.clusterEndpoints).map(
      ({ ip, port: number }) => ({ ip, port: number }),
    );
  const relay = (listen: HostPort, endpoints: readonly HostPort[]): RelayToOpen => ({
    id: `${port.key} ${listen.ip} ${listen.port}`,
    protocol,
    listen,
    endpoints,
    ...(affinitySeconds === undefined ? {} : { affinitySeconds }),
  });
  const internal = port.clusterIP === undefined ? [] : [{ ip: port.clusterIP, port: port.port }];
  const external = externalAddresses(port, node);
  // No relay without endpoints: the kernel then refuses connections, as it should.
  return [
    ...internal.map((listen) => relay(listen, endpointsOf(port.internalPolicy))),
    ...external.map((listen) => relay(listen, endpointsOf(port.externalPolicy))),
  ].filter(({ endpoints }) => endpoints.length > 0);
}

/** Relays do not check source addresses, so that load balancer addresses with source ranges stay closed. */
export function hasUnfilteredBalancer({ sourceRanges, loadBalancerIPs }: ServicePort): boolean {
  return sourceRanges !== undefined && loadBalancerIPs.length > 0;
}

function externalAddresses(port: ServicePort, node: NodeState): readonly HostPort[] {
  const balancers = hasUnfilteredBalancer(port) ? [] : port.loadBalancerIPs;
  const everywhere = node.family === 'IPv4' ? '0.0.0.0' : '::';
  const nodeIPs = node.nodePortAddresses === 'all' ? [everywhere] : node.nodePortAddresses;
  const { nodePort } = port;
  return [
    ...[...port.externalIPs, ...balancers].map((ip) => ({ ip, port: port.port })),
    ...(nodePort === undefined ? [] : nodeIPs.map((ip) => ({ ip, port: nodePort }))),
  ];
}

/** What must be routed to this machine: the service ranges, and addresses outside them. */
export function localRoutes({ node, ports }: ProxyState): ReadonlySet<string> {
  const ranges = node.serviceCIDRs.flatMap((text) => parseCidr(text) ?? []);
  const bits = node.family === 'IPv4' ? 32 : 128;
  const routes = new Set(node.serviceCIDRs);
  for (const { externalIPs, loadBalancerIPs } of ports.values()) {
    for (const ip of [...externalIPs, ...loadBalancerIPs]) {
      const address = parseAddress(ip);
      const isCovered =
        address === undefined || ranges.some((range) => containsAddress(range, address));
      // The node's own addresses are local without our help, and must stay when the service goes.
      if (!isCovered && !node.nodeIPs.includes(ip)) routes.add(`${ip}/${bits}`);
    }
  }
  return routes;
}
