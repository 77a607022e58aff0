// The chains that stand whatever the services are: what is asked of a packet at each hook.
import type { Statement } from '../../../host/nftables/objects.ts';
import { widestRanges } from '../../../ip/widest-ranges.ts';
import type { Family, NodeState } from '../../model/state.ts';
import {
  baseChains,
  clusterIPs,
  firewallIPs,
  hairpinConnections,
  ipFields,
  nodePortFields,
  nodePortIPs,
  noEndpointNodePorts,
  noEndpointServices,
  serviceIPs,
  serviceNodePorts,
  sourceRanges,
} from './layout.ts';
import {
  type ChainRules,
  drop,
  goBack,
  goTo,
  isIn,
  isNewConnection,
  jump,
  lookUpVerdict,
} from './rules.ts';

/** `reject` itself is a word of nft's language. */
export const rejectChain = 'refuse';

export function nodeChains(node: NodeState): readonly ChainRules[] {
  return [
    ...baseChains.map((chain) => ({ chain, rules: hookRules(node)[chain.name] ?? [] })),
    { chain: { name: 'firewall' }, rules: firewallRules },
    { chain: { name: 'services' }, rules: serviceRules(node) },
    { chain: { name: 'no-endpoints' }, rules: noEndpointRules(node) },
    { chain: { name: 'unused-ips' }, rules: unusedIPRules(node) },
    { chain: { name: rejectChain }, rules: rejectRules },
  ];
}

function hookRules(node: NodeState): Readonly<Record<string, ChainRules['rules']>> {
  const firewall = [isNewConnection, isIn(firewallIPs, ipFields), jump('firewall')];
  const noEndpoints = [isNewConnection, jump('no-endpoints')];
  const unusedIPs = [isNewConnection, jump('unused-ips')];
  return {
    'filter-prerouting-pre-dnat': [firewall],
    'filter-output-pre-dnat': [firewall],
    'nat-prerouting': [[jump('services')]],
    'nat-output': [[jump('services')]],
    'filter-input': [noEndpoints],
    'filter-forward': [noEndpoints, unusedIPs],
    'filter-output': [noEndpoints, unusedIPs],
    'nat-postrouting': masqueradeRules(node),
  };
}

const firewallRules: ChainRules['rules'] = [
  [isIn(sourceRanges, [...ipFields, 'source']), goBack],
  [drop],
];

/** An address of a Service goes before a node port, also where it is an address of the node. */
function serviceRules(node: NodeState): ChainRules['rules'] {
  return [
    [lookUpVerdict(serviceIPs, ipFields)],
    [...isToNodePortAddress(node), lookUpVerdict(serviceNodePorts, nodePortFields)],
  ];
}

/** Packets whose destination was translated no longer have the addresses that are asked for here. */
function noEndpointRules(node: NodeState): ChainRules['rules'] {
  return [
    [lookUpVerdict(noEndpointServices, ipFields)],
    [...isToNodePortAddress(node), lookUpVerdict(noEndpointNodePorts, nodePortFields)],
  ];
}

function unusedIPRules({ serviceCIDRs }: NodeState): ChainRules['rules'] {
  return [
    [isIn(clusterIPs, ['destination']), goTo(rejectChain)],
    ...widestRanges(serviceCIDRs).map((cidr) => [
      { kind: 'match-range', field: 'destination', cidr, isInverted: false } as const,
      drop,
    ]),
  ];
}

const rejectRules: ChainRules['rules'] = [
  [
    { kind: 'match-protocol', protocol: 'tcp' },
    { kind: 'reject', answer: 'tcp-reset' },
  ],
  [{ kind: 'reject', answer: 'port-unreachable' }],
];

function masqueradeRules({ masqueradeMark }: NodeState): ChainRules['rules'] {
  return [
    [
      { kind: 'match-translated' },
      isIn(hairpinConnections, ['source', 'destination', 'protocol', 'destination-port']),
      { kind: 'masquerade' },
    ],
    [
      { kind: 'match-mark', bit: masqueradeMark },
      // Routing and other programs after us must not meet our mark.
      { kind: 'clear-mark', bit: masqueradeMark },
      { kind: 'masquerade' },
    ],
  ];
}

/** Never loopback: an answer from elsewhere cannot reach a loopback address (NFT-08). */
function isToNodePortAddress({ nodePortAddresses, family }: NodeState): readonly Statement[] {
  if (nodePortAddresses !== 'all') return [isIn(nodePortIPs, ['destination'])];
  return [
    { kind: 'match-local-address', field: 'destination' },
    {
      kind: 'match-range',
      field: 'destination',
      cidr: loopbackRange[family],
      isInverted: true,
    },
  ];
}

const loopbackRange: Readonly<Record<Family, string>> = {
  IPv4: '127.0.0.0/8',
  IPv6: '::1/128',
};
