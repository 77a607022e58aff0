// What the table consists of whatever the services are: its sets and maps, and where it hangs in the kernel. Nothing here changes while
// the proxy runs; a table with another layout is written anew.
import type { Chain, Field, NftSet, Table } from '../../../host/nftables/objects.ts';
import type { Family } from '../../model/state.ts';

export function tableOf(family: Family): Table {
  return { family: family === 'IPv4' ? 'ip' : 'ip6', name: 'kube-proxy' };
}

/** How packets name a service port: by an address of it, or by a node port at any address of the node. */
export const ipFields: readonly Field[] = ['destination', 'protocol', 'destination-port'];
export const nodePortFields: readonly Field[] = ['protocol', 'destination-port'];

const ipKey = ['address', 'protocol', 'port'] as const;
const nodePortKey = ['protocol', 'port'] as const;
const endpoint = ['address', 'port'] as const;

/** Every address that is some Service's cluster IP. */
export const clusterIPs: NftSet = { name: 'cluster-ips', key: ['address'] };

/** Where node ports answer, unless that is on every address of the node. */
export const nodePortIPs: NftSet = { name: 'nodeport-ips', key: ['address'] };

/** Connections of an endpoint of this node to itself. */
export const hairpinConnections: NftSet = {
  name: 'hairpin-connections',
  key: ['address', 'address', 'protocol', 'port'],
};

/** Load balancer addresses that not everybody may use, and by whom they may be used. */
export const firewallIPs: NftSet = { name: 'firewall-ips', key: ipKey };
export const sourceRanges: NftSet = {
  name: 'source-ranges',
  key: [...ipKey, 'address'],
  hasIntervals: true,
};

/** How a service port is served: one chain for all that have as many endpoints under the same rules. */
export const serviceIPs: NftSet = { name: 'service-ips', key: ipKey, data: 'verdict' };
export const serviceNodePorts: NftSet = {
  name: 'service-nodeports',
  key: nodePortKey,
  data: 'verdict',
};

/** The n-th endpoint of a service port, and of those on this node where policy Local makes a difference. */
export const endpointsOfIPs: NftSet = {
  name: 'endpoints',
  key: [...ipKey, 'index'],
  data: endpoint,
};
export const localEndpointsOfIPs: NftSet = {
  name: 'local-endpoints',
  key: [...ipKey, 'index'],
  data: endpoint,
};
export const endpointsOfNodePorts: NftSet = {
  name: 'nodeport-endpoints',
  key: [...nodePortKey, 'index'],
  data: endpoint,
};
export const localEndpointsOfNodePorts: NftSet = {
  name: 'nodeport-local-endpoints',
  key: [...nodePortKey, 'index'],
  data: endpoint,
};

/** What becomes of packets for a service port that no endpoint was found for. */
export const noEndpointServices: NftSet = {
  name: 'no-endpoint-services',
  key: ipKey,
  data: 'verdict',
};
export const noEndpointNodePorts: NftSet = {
  name: 'no-endpoint-nodeports',
  key: nodePortKey,
  data: 'verdict',
};

/** Four megabytes of kernel memory in all; beyond it new clients are spread and not remembered. */
const maxAffinityRecords = 262_144;

/** Which clients stick to which endpoint; the number says which endpoint of which service port. */
export const affinity: NftSet = {
  name: 'affinity',
  key: ['address', 'index'],
  dynamicSize: maxAffinityRecords,
};

/**
 * A fingerprint of the layout and one of each chain: name and rules. The kernel gives rules back in its own words; by these a
 * restarted proxy knows whether they are the ones it would write.
 */
export const writtenRules: NftSet = { name: 'written-rules', key: ['mark', 'mark'] };

/** Filled from here. */
export const ownSets: readonly NftSet[] = [
  clusterIPs,
  nodePortIPs,
  hairpinConnections,
  firewallIPs,
  sourceRanges,
  serviceIPs,
  serviceNodePorts,
  endpointsOfIPs,
  localEndpointsOfIPs,
  endpointsOfNodePorts,
  localEndpointsOfNodePorts,
  noEndpointServices,
  noEndpointNodePorts,
  writtenRules,
];

export const fixedSets: readonly NftSet[] = [...ownSets, affinity];

/** Destination NAT, source NAT and filtering happen at these priorities by the kernel's own convention. */
const priority = { beforeDnat: -110, dnat: -100, filter: 0, snat: 100 } as const;

export const baseChains: readonly Chain[] = [
  {
    name: 'filter-prerouting-pre-dnat',
    base: { type: 'filter', hook: 'prerouting', priority: priority.beforeDnat },
  },
  {
    name: 'filter-output-pre-dnat',
    base: { type: 'filter', hook: 'output', priority: priority.beforeDnat },
  },
  { name: 'nat-prerouting', base: { type: 'nat', hook: 'prerouting', priority: priority.dnat } },
  { name: 'nat-output', base: { type: 'nat', hook: 'output', priority: priority.dnat } },
  { name: 'filter-input', base: { type: 'filter', hook: 'input', priority: priority.filter } },
  { name: 'filter-forward', base: { type: 'filter', hook: 'forward', priority: priority.filter } },
  { name: 'filter-output', base: { type: 'filter', hook: 'output', priority: priority.filter } },
  { name: 'nat-postrouting', base: { type: 'nat', hook: 'postrouting', priority: priority.snat } },
];
