// The desired network of a node, from the Nodes of the cluster and the pods of the node.
import { type Address, type Family, parseAddress } from '../../ip/address.ts';
import { addressCount, type Cidr, formatCidr, parseCidr } from '../../ip/cidr.ts';
import type { Node } from '../../kinds/node/types.ts';
import { gatewayOf } from './address-pool.ts';
import type { HostPort } from './host-ports.ts';

export type Bridge = {
  readonly name: string;
  readonly mtu: number;
  /** Fixed, because the kernel's choice changes with the ports, and pods cache it. */
  readonly macAddress: string;
  /** With prefix length. */
  readonly addresses: readonly string[];
};

export type PodRoute = { readonly destination: string; readonly gateway: string };

/** The inputs of the rules of one family. */
export type RuleInputs = {
  readonly bridge: string;
  /** Ranges of pods of this node. */
  readonly own: readonly string[];
  /** Pods and nodes of the cluster: traffic to them is not masqueraded. */
  readonly inside: readonly string[];
  readonly hostPorts: readonly HostPort[];
};

export type NodeNetwork = {
  readonly bridge: Bridge;
  readonly routes: readonly PodRoute[];
  readonly rules: Readonly<Record<Family, RuleInputs>>;
};

export type DesiredOptions = {
  readonly nodeName: string;
  readonly nodes: Iterable<Node>;
  /** Ranges of this node, and of pods that were created before they changed. */
  readonly ranges: readonly Cidr[];
  readonly hostPorts: readonly HostPort[];
  readonly bridge: Pick<Bridge, 'name' | 'mtu'>;
};

/** A bridge needs room for itself and one pod. */
const minAddresses = 4n;

/** The usable pod ranges of a node. */
export function podRangesOf({ spec }: Pick<Node, 'spec'>): readonly Cidr[] {
  const texts = spec.podCIDRs ?? (spec.podCIDR ? [spec.podCIDR] : []);
  return texts
    .flatMap((text) => parseCidr(text) ?? [])
    .filter((range) => addressCount(range) >= minAddresses);
}

export function desiredNetwork(options: DesiredOptions): NodeNetwork {
  const { nodeName, ranges, hostPorts } = options;
  const nodes = [...options.nodes];
  const others = nodes.filter(({ metadata }) => metadata.name !== nodeName);
  const gateways = ranges.map(gatewayOf);
  const inside = [
    ...nodes.flatMap(podRangesOf).map(formatCidr),
    ...ranges.map(formatCidr),
    ...nodes.flatMap(internalIPs),
  ];
  const rulesFor = (family: Family): RuleInputs => ({
    bridge: options.bridge.name,
    own: ranges.filter((range) => range.family === family).map(formatCidr),
    inside: [...inside, ...multicastRanges].filter((text) => familyOfRange(text) === family),
    hostPorts: hostPorts.filter(({ podIP }) => parseAddress(podIP)?.family === family),
  });
  return {
    bridge: {
      ...options.bridge,
      macAddress: macAddressFor(gateways[0] ?? ''),
      addresses: ranges.map((range) => `${gatewayOf(range)}/${range.prefix}`),
    },
    routes: others.flatMap(routesTo),
    rules: { IPv4: rulesFor('IPv4'), IPv6: rulesFor('IPv6') },
  };
}

/** Multicast has no single receiver whose replies would have to be translated. */
const multicastRanges = ['224.0.0.0/4', 'ff00::/8'];

/** Through the node's address of the same family; nodes must be on one link. */
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

/** Derived from the IP address, so that neighbor caches never become stale. */
export function macAddressFor(ip: string): string {
  const { value }: Pick<Address, 'value'> = parseAddress(ip) ?? { value: 0n };
  const tail = Number(value & 0xffffffffn);
  const bytes = [0x0a, 0x58, tail >>> 24, (tail >>> 16) & 255, (tail >>> 8) & 255, tail & 255];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':');
}

/** Prefix of the names of pod interfaces on the node. */
export const portPrefix = 'fpod';
/** Limit of the kernel (IFNAMSIZ); the end of a uid differs most. */
const portNameLength = 15;

export function portName(uid: string): string {
  const letters = uid.toLowerCase().replace(/[^a-z0-9]/g, '');
  return `${portPrefix}${letters.slice(-(portNameLength - portPrefix.length))}`;
}
