// The rules around the virtual servers. All but the chains that draw depend on the node alone: services change sets, not rules.
import type { Chain, Field, NftSet, Statement } from '../../../host/nftables/objects.ts';
import type { NodeState } from '../../model/state.ts';
import { isFromPods } from '../../packets/from-pods.ts';
import {
  baseChains,
  clusterIPs,
  droppedServers,
  entranceFields,
  externalServers,
  firewalledServers,
  hairpinConnections,
  internalServers,
  localServers,
  servers,
  serviceIPs,
  shortCircuitEndpoints,
  shortCircuits,
  sourceRanges,
} from './layout.ts';

export type ChainRules = {
  readonly chain: Chain;
  readonly rules: readonly (readonly Statement[])[];
};

type Rules = ChainRules['rules'];

export function nodeChains(node: NodeState): readonly ChainRules[] {
  const rules = hookRules(node);
  return [
    ...baseChains.map((chain) => ({ chain, rules: rules[chain.name] ?? [] })),
    { chain: { name: 'firewall' }, rules: firewallRules },
    { chain: { name: 'services' }, rules: serviceRules(node) },
    { chain: { name: 'short-circuit' }, rules: shortCircuitRules(node) },
    { chain: { name: 'unused-ports' }, rules: unusedPortRules },
  ];
}

/** Draws one of `count` endpoints: shared by all short circuits that have as many. */
export function choiceChain(count: number): ChainRules {
  const draw = (random: number): readonly Statement[] => [
    {
      kind: 'translate-by-map',
      fields: [...entranceFields, { random }],
      map: shortCircuitEndpoints.name,
    },
  ];
  // Endpoints may go between a packet's look at their number and its draw; number 0 is there while any is.
  return { chain: { name: choiceChainName(count) }, rules: [draw(count), draw(1)] };
}

export function choiceChainName(count: number): string {
  return `choose-${count}`;
}

function hookRules(node: NodeState): Readonly<Record<string, Rules>> {
  const firewall = [isNew, isIn(firewalledServers), jump('firewall')];
  const dropped = [isNew, isIn(droppedServers), drop];
  return {
    'filter-prerouting': [firewall],
    'filter-output-pre-dnat': [firewall],
    'nat-prerouting': [[jump('services')]],
    'nat-output': [[jump('services')]],
    'filter-output': [dropped],
    'filter-input': [dropped, [isNew, isIn(serviceIPs, ['destination']), jump('unused-ports')]],
    'nat-postrouting': masqueradeRules(node),
  };
}

const firewallRules: Rules = [
  [
    isIn(sourceRanges, [...entranceFields, 'source']),
    { kind: 'verdict', verdict: { kind: 'return' } },
  ],
  [{ kind: 'verdict', verdict: { kind: 'drop' } }],
];

function serviceRules(node: NodeState): Rules {
  return [
    ...foreigners(node).map((match) => [isIn(internalServers), ...match, setMark(node)]),
    [isIn(externalServers), setMark(node)],
    [isIn(localServers), jump('short-circuit')],
  ];
}

/**
 * Who is masqueraded on the way to a cluster IP (KPX-20). A process of this node that connects to one has that very address,
 * since the node has it: no other machine could answer it.
 */
function foreigners(node: NodeState): readonly (readonly Statement[])[] {
  if (node.masqueradeAll) return [[]];
  const isForeign = isFromPods(node.localTraffic, true);
  return isForeign.length > 0 ? [isForeign] : [[isIn(clusterIPs, ['source'])]];
}

/** KPX-17: behind these no balancer stands, so that they may go anywhere. */
function shortCircuitRules(node: NodeState): Rules {
  const toAny: Statement = {
    kind: 'look-up-verdict',
    fields: entranceFields,
    map: shortCircuits.name,
  };
  const isFromNode: Statement = { kind: 'match-local-address', field: 'source' };
  const isPod = isFromPods(node.localTraffic, false);
  return [
    ...(isPod.length === 0 ? [] : [[...isPod, toAny]]),
    [isFromNode, setMark(node)],
    [isFromNode, toAny],
  ];
}

/** What listens on all addresses of the node must not be met on a service's address (IVS-08). Pings are answered. */
const unusedPortRules: Rules = [
  [isIn(servers), { kind: 'verdict', verdict: { kind: 'return' } }],
  [
    { kind: 'match-protocol', protocol: 'tcp' },
    { kind: 'reject', answer: 'tcp-reset' },
  ],
  ...(['udp', 'sctp'] as const).map((protocol): readonly Statement[] => [
    { kind: 'match-protocol', protocol },
    { kind: 'reject', answer: 'port-unreachable' },
  ]),
];

function masqueradeRules({ masqueradeMark }: NodeState): Rules {
  return [
    [
      isIn(hairpinConnections, ['source', 'destination', 'protocol', 'destination-port']),
      { kind: 'masquerade' },
    ],
    [
      { kind: 'match-mark', bit: masqueradeMark },
      { kind: 'clear-mark', bit: masqueradeMark },
      { kind: 'masquerade' },
    ],
  ];
}

const isNew = { kind: 'match-new-connection' } as const satisfies Statement;
const drop: Statement = { kind: 'verdict', verdict: { kind: 'drop' } };

function isIn({ name }: NftSet, fields: readonly Field[] = entranceFields): Statement {
  return { kind: 'match-set', fields, set: name };
}

function jump(chain: string): Statement {
  return { kind: 'verdict', verdict: { kind: 'jump', chain } };
}

function setMark({ masqueradeMark }: NodeState): Statement {
  return { kind: 'set-mark', bit: masqueradeMark };
}
