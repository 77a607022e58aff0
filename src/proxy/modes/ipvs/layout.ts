// The table of nf_tables that goes with the virtual servers: its sets, and where it hangs in the kernel. IPVS takes packets at the end
// of `input`, and of local processes right after destination NAT in `output`: what is asked before is asked there.
import type { Chain, Field, NftSet, Table } from '../../../host/nftables/objects.ts';
import type { Family } from '../../model/state.ts';

/** The interface that has the services' addresses, so that the kernel takes their packets for its own (IVS-01). */
export const dummyInterface = 'kube-ipvs0';

export function tableOf(family: Family): Table {
  return { family: family === 'IPv4' ? 'ip' : 'ip6', name: 'kube-proxy-ipvs' };
}

/** How packets name a virtual server. */
export const entranceFields: readonly Field[] = ['destination', 'protocol', 'destination-port'];
const entranceKey = ['address', 'protocol', 'port'] as const;

/** Addresses on the dummy interface. */
export const serviceIPs: NftSet = { name: 'service-ips', key: ['address'] };

/** All virtual servers of this mode, to distinguish them from other programs' when they must be removed. */
export const servers: NftSet = { name: 'servers', key: entranceKey };

/** Cluster IPs: those that do not come from pods are masqueraded. */
export const internalServers: NftSet = { name: 'internal-servers', key: entranceKey };

/** Addresses outside and node ports under policy Cluster: everybody is masqueraded. */
export const externalServers: NftSet = { name: 'external-servers', key: entranceKey };

/** The same under policy Local: their servers have the endpoints of this node only. */
export const localServers: NftSet = { name: 'local-servers', key: entranceKey };

/** Where pods and processes of this node may go all the same: a chain that draws one of all endpoints. */
export const shortCircuits: NftSet = { name: 'short-circuits', key: entranceKey, data: 'verdict' };
export const shortCircuitEndpoints: NftSet = {
  name: 'short-circuit-endpoints',
  key: [...entranceKey, 'index'],
  data: ['address', 'port'],
};

/** Endpoints there are, but none for packets that come here. */
export const droppedServers: NftSet = { name: 'dropped-servers', key: entranceKey };

/** Load balancer addresses that not everybody may use, and by whom they may be used. */
export const firewalledServers: NftSet = { name: 'firewalled-servers', key: entranceKey };
export const sourceRanges: NftSet = {
  name: 'source-ranges',
  key: [...entranceKey, 'address'],
  hasIntervals: true,
};

/** Cluster IPs as such: a process of this node that connects to one has it as its own address. */
export const clusterIPs: NftSet = { name: 'cluster-ips', key: ['address'] };

/** Connections of an endpoint of this node to itself. */
export const hairpinConnections: NftSet = {
  name: 'hairpin-connections',
  key: ['address', 'address', 'protocol', 'port'],
};

/** Who wrote the table: a fingerprint of its layout and rules. */
export const writtenRules: NftSet = { name: 'written-rules', key: ['mark', 'mark'] };

export const allSets: readonly NftSet[] = [
  serviceIPs,
  servers,
  internalServers,
  externalServers,
  localServers,
  shortCircuits,
  shortCircuitEndpoints,
  droppedServers,
  firewalledServers,
  sourceRanges,
  clusterIPs,
  hairpinConnections,
  writtenRules,
];

/** IPVS stands at -98 in `output` and at 99 in `input`. */
const priority = { beforeDnat: -110, dnat: -100, afterDnat: -99, filter: 0, snat: 100 } as const;

export const baseChains: readonly Chain[] = [
  {
    name: 'filter-prerouting',
    base: { type: 'filter', hook: 'prerouting', priority: priority.beforeDnat },
  },
  {
    name: 'filter-output-pre-dnat',
    base: { type: 'filter', hook: 'output', priority: priority.beforeDnat },
  },
  { name: 'nat-prerouting', base: { type: 'nat', hook: 'prerouting', priority: priority.dnat } },
  { name: 'nat-output', base: { type: 'nat', hook: 'output', priority: priority.dnat } },
  {
    name: 'filter-output',
    base: { type: 'filter', hook: 'output', priority: priority.afterDnat },
  },
  { name: 'filter-input', base: { type: 'filter', hook: 'input', priority: priority.filter } },
  { name: 'nat-postrouting', base: { type: 'nat', hook: 'postrouting', priority: priority.snat } },
];
