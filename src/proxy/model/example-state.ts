// Builders for tests: a state of one node that cases change only where it matters to them.
import type { Packet } from '../packets/packet.ts';
import type { Endpoint, NodeState, ProxyState, ServicePort } from './state.ts';

export function exampleNode(parts: Partial<NodeState> = {}): NodeState {
  return {
    family: 'IPv4',
    nodeName: 'n1',
    nodeIPs: ['10.20.0.11', '10.244.1.1'],
    nodePortAddresses: 'all',
    localTraffic: { kind: 'cidr', cidr: '10.244.0.0/16' },
    masqueradeAll: false,
    masqueradeMark: 0x4000,
    serviceCIDRs: ['10.96.0.0/16'],
    ...parts,
  };
}

/** The node of `exampleNode` as its IPv6 proxy sees it. */
export function exampleNode6(parts: Partial<NodeState> = {}): NodeState {
  return exampleNode({
    family: 'IPv6',
    nodeIPs: ['fd20::11', 'fd44:1::1'],
    localTraffic: { kind: 'cidr', cidr: 'fd44::/16' },
    serviceCIDRs: ['fd00:96::/108'],
    ...parts,
  });
}

export const localEndpoint: Endpoint = { ip: '10.244.1.11', port: 9376, isLocal: true };
export const remoteEndpoint: Endpoint = { ip: '10.244.2.13', port: 9376, isLocal: false };
export const localEndpoint6: Endpoint = { ip: 'fd44:1::11', port: 9376, isLocal: true };
const remoteEndpoint6: Endpoint = { ip: 'fd44:2::13', port: 9376, isLocal: false };

/** A ClusterIP service with an endpoint here and one elsewhere. */
export function exampleServicePort(parts: Partial<ServicePort> = {}): ServicePort {
  const { namespace = 'default', name = 'web', portName = '', protocol = 'TCP' } = parts;
  return {
    key: `${namespace}/${name}:${portName}/${protocol}`,
    namespace,
    name,
    portName,
    protocol,
    port: 80,
    clusterIP: '10.96.0.20',
    externalIPs: [],
    loadBalancerIPs: [],
    allowsBalancerItself: false,
    internalPolicy: 'Cluster',
    externalPolicy: 'Cluster',
    clusterEndpoints: [localEndpoint, remoteEndpoint],
    localEndpoints: [localEndpoint],
    hasEndpoints: true,
    ...parts,
  };
}

export function exampleServicePort6(parts: Partial<ServicePort> = {}): ServicePort {
  return exampleServicePort({
    clusterIP: 'fd00:96::20',
    clusterEndpoints: [localEndpoint6, remoteEndpoint6],
    localEndpoints: [localEndpoint6],
    ...parts,
  });
}

export function exampleState(
  ports: readonly ServicePort[],
  node: NodeState = exampleNode(),
): ProxyState {
  return { node, ports: new Map(ports.map((port) => [port.key, port])) };
}

/** From a pod of this node to the cluster IP of `exampleServicePort`. */
export function examplePacket(parts: Partial<Packet> = {}): Packet {
  return {
    family: 'IPv4',
    protocol: 'TCP',
    origin: 'forwarded',
    inputInterface: 'pods',
    source: '10.244.1.50',
    destination: '10.96.0.20',
    destinationPort: 80,
    isToNode: false,
    isFromNode: false,
    ...parts,
  };
}
