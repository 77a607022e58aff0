// The rules for traffic of pods: ports of the node that lead to them, and whose address the outside sees. Small enough to be written
// whole, in one transaction, whenever something of it changes.
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
import type { RuleFacts } from './desired.ts';
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
/** Pods that may reach themselves through the node. */
const selfReached: NftSet = { name: 'self-reached', key: ['address', 'address'] };

/** Of the kernel: before connections are known, where destinations are translated, where sources are. */
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

/** In place of whatever the table holds. */
export function rulesTransaction(family: Family, facts: RuleFacts): Transaction {
  return {
    table: podTable(family),
    operations: [
      ...removal,
      { kind: 'add-table' },
      ...Object.values(chains).map((chain): Operation => ({ kind: 'add-chain', chain })),
      ...setsOf(facts),
      ...rulesOf(family, facts).map((rule): Operation => ({ kind: 'add-rule', rule })),
    ],
  };
}

export function removalTransaction(family: Family): Transaction {
  return { table: podTable(family), operations: removal };
}

/** Adding what is there changes nothing; deleting what is not there would fail. */
const removal: readonly Operation[] = [{ kind: 'add-table' }, { kind: 'delete-table' }];

function setsOf(facts: RuleFacts): readonly Operation[] {
  const anywhere = facts.hostPorts.filter(({ hostIP }) => hostIP === undefined);
  const bound = facts.hostPorts.filter(({ hostIP }) => hostIP !== undefined);
  const podIPs = [...new Set(facts.hostPorts.map(({ podIP }) => podIP))];
  return [
    ...filled(
      inside,
      widestRanges(facts.inside).map((range) => ({ key: [range] })),
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
      selfReached,
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

function rulesOf(family: Family, facts: RuleFacts): readonly Rule[] {
  return [
    ...guardRules(family, facts),
    ...translationRules(chains.arriving.name, family),
    ...translationRules(chains.local.name, family),
    ...sourceRules(family, facts),
  ];
}

/**
 * Loopback addresses may be routed on the bridge so that host ports answer on 127.0.0.1; what pods send there themselves must not
 * reach the node's own loopback.
 */
function guardRules(family: Family, { bridge }: RuleFacts): readonly Rule[] {
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

/** A port that is bound to one address goes before the same on all of them. */
function translationRules(chain: string, family: Family): readonly Rule[] {
  // IPv6 lets no packet from ::1 leave the node, whatever is done to it.
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

function sourceRules(family: Family, { own }: RuleFacts): readonly Rule[] {
  const chain = chains.leaving.name;
  const toItself: Statement = {
    kind: 'match-set',
    fields: ['source', 'destination'],
    set: selfReached.name,
  };
  const isInside: Statement = { kind: 'match-set', fields: ['destination'], set: inside.name };
  return [
    // A pod drops what comes from its own address.
    { chain, statements: [toItself, isTranslated, masquerade] },
    // Nobody but the node itself can answer its loopback address.
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
