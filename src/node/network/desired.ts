// What the network of a node has to look like, from the Nodes of the cluster and the pods that are here.
import { type Address, type Family, parseAddress } from '../../ip/address.ts';
import { addressCount, type Cidr, formatCidr, parseCidr } from '../../ip/cidr.ts';
import type { Node } from '../../kinds/node/types.ts';
import { gatewayOf } from './address-pool.ts';
import type { HostPort } from './host-ports.ts';

export type Bridge = {
  readonly name: string;
  readonly mtu: number;
  /** Of its own, because the kernel's choice changes with the ports, and pods remember it. */
  readonly macAddress: string;
  /** With prefix length. */
  readonly addresses: readonly string[];
};

export type PodRoute = { readonly destination: string; readonly gateway: string };

/** What the rules of one family are made of. */
export type RuleFacts = {
  readonly bridge: string;
  /** Pods of this node. */
  readonly own: readonly string[];
  /** Pods and nodes of the cluster: they see who is speaking. */
  readonly inside: readonly string[];
  readonly hostPorts: readonly HostPort[];
};

export type NodeNetwork = {
  readonly bridge: Bridge;
  readonly routes: readonly PodRoute[];
  readonly rules: Readonly<Record<Family, RuleFacts>>;
};

export type NetworkSituation = {
  readonly nodeName: string;
  readonly nodes: Iterable<Node>;
  /** Of this node, and of pods from before its ranges changed. */
  readonly ranges: readonly Cidr[];
  readonly hostPorts: readonly HostPort[];
  readonly bridge: Pick<Bridge, 'name' | 'mtu'>;
};

/** A bridge needs room for itself and one pod. */
const minAddresses = 4n;

/** The ranges for pods of a node; none when it has no usable ones. */
export function podRangesOf({ spec }: Pick<Node, 'spec'>): readonly Cidr[] {
  const texts = spec.podCIDRs ?? (spec.podCIDR ? [spec.podCIDR] : []);
  return texts
    .flatMap((text) => parseCidr(text) ?? [])
    .filter((range) => addressCount(range) >= minAddresses);
}

export function desiredNetwork(situation: NetworkSituation): NodeNetwork {
  const { nodeName, ranges, hostPorts } = situation;
  const nodes = [...situation.nodes];
  const others = nodes.filter(({ metadata }) => metadata.name !== nodeName);
  const gateways = ranges.map(gatewayOf);
  const inside = [
    ...nodes.flatMap(podRangesOf).map(formatCidr),
    ...ranges.map(formatCidr),
    ...nodes.flatMap(internalIPs),
  ];
  const rulesFor = (family: Family): RuleFacts => ({
    bridge: situation.bridge.name,
    own: ranges.filter((range) => range.family === family).map(formatCidr),
    inside: [...inside, ...manyAddressed].filter((text) => familyOfRange(text) === family),
    hostPorts: hostPorts.filter(({ podIP }) => parseAddress(podIP)?.family === family),
  });
  return {
    bridge: {
      ...situation.bridge,
      macAddress: macAddressFor(gateways[0] ?? ''),
      addresses: ranges.map((range) => `${gatewayOf(range)}/${range.prefix}`),
    },
    routes: others.flatMap(routesTo),
    rules: { IPv4: rulesFor('IPv4'), IPv6: rulesFor('IPv6') },
  };
}

/** What is sent to many at once has no single receiver whose answers would have to come back. */
const manyAddressed = ['224.0.0.0/4', 'ff00::/8'];

/** Through the node's address of the same family; nodes have to be neighbours. */
function routesTo(node: Node): readonly PodRoute[] {
  const addresses = internalIPs(node);
  return podRangesOf(node).flatMap((range) => {
    const gateway = addresses.find((ip) => parseAddress(ip)?.family === range.family);
    return gateway === undefined ? [] : [{ destination: formatCidr(range), gateway }];
  });
}

function internalIPs({ status }: Node): readonly string[] {
  return (status?.addresses ?? [])
    .filter(({ type, address }) => type === 'InternalIP' && parseAddress(address) !== undefined)
    .map(({ address }) => address);
}

const familyOfRange = (text: string): Family => (text.includes(':') ? 'IPv6' : 'IPv4');

/** The same address has the same hardware address for ever, so that nobody remembers a wrong one. */
export function macAddressFor(ip: string): string {
  const { value }: Pick<Address, 'value'> = parseAddress(ip) ?? { value: 0n };
  const tail = Number(value & 0xffffffffn);
  const bytes = [0x0a, 0x58, tail >>> 24, (tail >>> 16) & 255, (tail >>> 8) & 255, tail & 255];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':');
}

/** Interfaces of pods on the node's side, and nothing else, have names that start so. */
export const portPrefix = 'fpod';
/** The kernel takes 15 characters; the end of a uid says most. */
const portNameLength = 15;

export function portName(uid: string): string {
  const letters = uid.toLowerCase().replace(/[^a-z0-9]/g, '');
  return `${portPrefix}${letters.slice(-(portNameLength - portPrefix.length))}`;
}
