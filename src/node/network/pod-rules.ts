// The nftables rules of pods: host ports and masquerading. Small enough to be rewritten as a whole, in one transaction, on each change.
import type {
  Element,
  NftSet,
  Operation,
  Rule,
  Statement,
  Table,
  Transaction,
} from '../../host/nftables/objects.ts';
import type { Family } from '../../ip/address.ts';
import { widestRanges } from '../../ip/widest-ranges.ts';
import type { RuleInputs } from './desired.ts';
import type { HostPort } from './host-ports.ts';

export function podTable(family: Family): Table {
  return { family: family === 'IPv4' ? 'ip' : 'ip6', name: 'fairlead-pods' };
}

const target = ['address', 'port'] as const;
const inside: NftSet = { name: 'inside', key: ['address'], hasIntervals: true };
const hostPorts: NftSet = { name: 'host-ports', key: ['protocol', 'port'], data: target };
const boundHostPorts: NftSet = {
  name: 'bound-host-ports',
  key: ['address', 'protocol', 'port'],
  data: target,
};
/** Pods that may reach themselves through a host port. */
const hairpin: NftSet = { name: 'self-reached', key: ['address', 'address'] };

/** The kernel's priorities: before conntrack, destination NAT, source NAT. */
const priority = { raw: -300, destination: -100, source: 100 } as const;

const chains = {
  guard: { name: 'guard', base: { type: 'filter', hook: 'prerouting', priority: priority.raw } },
  arriving: {
    name: 'arriving',
    base: { type: 'nat', hook: 'prerouting', priority: priority.destination },
  },
  local: { name: 'local', base: { type: 'nat', hook: 'output', priority: priority.destination } },
  leaving: {
    name: 'leaving',
    base: { type: 'nat', hook: 'postrouting', priority: priority.source },
  },
} as const;

/** Replaces the whole table. */
export function rulesTransaction(family: Family, inputs: RuleInputs): Transaction {
  return {
    table: podTable(family),
    operations: [
      ...removal,
      { kind: 'add-table' },
      ...Object.values(chains).map((chain): Operation => ({ kind: 'add-chain', chain })),
      ...setsOf(inputs),
      ...rulesOf(family, inputs).map((rule): Operation => ({ kind: 'add-rule', rule })),
    ],
  };
}

export function removalTransaction(family: Family): Transaction {
  return { table: podTable(family), operations: removal };
}

/** Adding an existing table changes nothing; deleting a missing one would fail. */
const removal: readonly Operation[] = [{ kind: 'add-table' }, { kind: 'delete-table' }];

function setsOf(inputs: RuleInputs): readonly Operation[] {
  const anywhere = inputs.hostPorts.filter(({ hostIP }) => hostIP === undefined);
  const bound = inputs.hostPorts.filter(({ hostIP }) => hostIP !== undefined);
  const podIPs = [...new Set(inputs.hostPorts.map(({ podIP }) => podIP))];
  return [
    ...filled(
      inside,
      widestRanges(inputs.inside).map((range) => ({ key: [range] })),
    ),
    ...filled(
      hostPorts,
      anywhere.map((port) => ({ key: [port.protocol, port.port], data: targetOf(port) })),
    ),
    ...filled(
      boundHostPorts,
      bound.map((port) => ({
        key: [port.hostIP ?? '', port.protocol, port.port],
        data: targetOf(port),
      })),
    ),
    ...filled(
      hairpin,
      podIPs.map((ip) => ({ key: [ip, ip] })),
    ),
  ];
}

const targetOf = ({ podIP, podPort }: HostPort): readonly [string, number] => [podIP, podPort];

function filled(set: NftSet, elements: readonly Element[]): readonly Operation[] {
  const add: Operation = { kind: 'add-set', set };
  return elements.length === 0 ? [add] : [add, { kind: 'add-elements', set, elements }];
}

const masquerade: Statement = { kind: 'masquerade' };
const isTranslated: Statement = { kind: 'match-translated' };
const range = (field: 'source' | 'destination', cidr: string, isInverted = false): Statement => ({
  kind: 'match-range',
  field,
  cidr,
  isInverted,
});

function rulesOf(family: Family, inputs: RuleInputs): readonly Rule[] {
  return [
    ...guardRules(family, inputs),
    ...translationRules(chains.arriving.name, family),
    ...translationRules(chains.local.name, family),
    ...sourceRules(family, inputs),
  ];
}

/**
 * route_localnet on the bridge makes host ports work on 127.0.0.1; packets from pods to loopback addresses must not reach the node's
 * loopback.
 */
function guardRules(family: Family, { bridge }: RuleInputs): readonly Rule[] {
  if (family === 'IPv6') return [];
  const fromPods: Statement = {
    kind: 'match-input-interface',
    name: bridge,
    isPrefix: false,
    isInverted: false,
  };
  const drop: Statement = { kind: 'verdict', verdict: { kind: 'drop' } };
  return [
    { chain: chains.guard.name, statements: [fromPods, range('destination', loopback.IPv4), drop] },
  ];
}

const loopback = { IPv4: '127.0.0.0/8', IPv6: '::1/128' } as const;

/** A host port with a hostIP takes precedence over the same port on all addresses. */
function translationRules(chain: string, family: Family): readonly Rule[] {
  // The kernel never sends packets from ::1 to another link.
  const toNode: readonly Statement[] = [
    ...(family === 'IPv6' ? [range('destination', loopback.IPv6, true)] : []),
    { kind: 'match-local-address', field: 'destination' },
  ];
  return [
    {
      chain,
      statements: [
        ...toNode,
        {
          kind: 'translate-by-map',
          fields: ['destination', 'protocol', 'destination-port'],
          map: boundHostPorts.name,
        },
      ],
    },
    {
      chain,
      statements: [
        ...toNode,
        {
          kind: 'translate-by-map',
          fields: ['protocol', 'destination-port'],
          map: hostPorts.name,
        },
      ],
    },
  ];
}

function sourceRules(family: Family, { own }: RuleInputs): readonly Rule[] {
  const chain = chains.leaving.name;
  const isHairpin: Statement = {
    kind: 'match-set',
    fields: ['source', 'destination'],
    set: hairpin.name,
  };
  const isInside: Statement = { kind: 'match-set', fields: ['destination'], set: inside.name };
  return [
    // A pod drops packets from its own address.
    { chain, statements: [isHairpin, isTranslated, masquerade] },
    // Pods cannot reply to the node's loopback address.
    ...(family === 'IPv4'
      ? own.map((cidr) => ({
          chain,
          statements: [
            range('source', loopback.IPv4),
            range('destination', cidr),
            isTranslated,
            masquerade,
          ],
        }))
      : []),
    { chain, statements: [isInside, { kind: 'verdict', verdict: { kind: 'return' } }] },
    ...own.map((cidr) => ({ chain, statements: [range('source', cidr), masquerade] })),
  ];
}
