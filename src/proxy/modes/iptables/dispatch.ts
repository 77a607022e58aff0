// From a packet's destination to the rules of its service. Upstream has one list that every first packet goes through
// and that is written anew with every service. A large node has lists of lists instead: by the low bits of the address,
// which spread well because addresses are handed out by chance, or by blocks of ports.
import { formatAddress, parseAddress } from '../../../ip/address.ts';
import type { Family, Protocol } from '../../model/state.ts';
import type { RuleContext } from './layout.ts';
import { chainNames, protocolName } from './names.ts';
import { renderRule } from './render-rule.ts';
import type { Chain, Rule, Table } from './rules.ts';

/** A rule of one service port in a list that all services share. */
export type DispatchEntry = {
  readonly list: DispatchList;
  readonly at: { readonly ip: string } | { readonly protocol: Protocol; readonly port: number };
  readonly rule: Rule;
};

export type DispatchList = { readonly table: Table; readonly name: string };

export const dispatchLists = {
  services: { table: 'nat', name: chainNames.services },
  nodePorts: { table: 'nat', name: chainNames.nodePorts },
  refusedServices: { table: 'filter', name: chainNames.services },
  refusedExternals: { table: 'filter', name: chainNames.externalServices },
  closedNodePorts: { table: 'filter', name: chainNames.closedPorts },
  healthChecks: { table: 'filter', name: chainNames.nodePorts },
  firewall: { table: 'filter', name: chainNames.proxyFirewall },
} as const satisfies Record<string, DispatchList>;

/** Rules that stand after those of all services in a list. */
export type Tails = ReadonlyMap<DispatchList, readonly Rule[]>;

export type Dispatch = {
  readonly add: (entries: readonly DispatchEntry[]) => void;
  readonly remove: (entries: readonly DispatchEntry[]) => void;
  /** The chains that hold these entries and those that lead to them, as they are now. */
  readonly chainsOf: (entries: readonly DispatchEntry[]) => readonly Chain[];
  readonly allChains: () => readonly Chain[];
  /** Sorts entries in the order in which following every jump visits them. */
  readonly positionOf: (entry: DispatchEntry) => string;
};

/** About the square root of 10,000: a first packet passes as many lists as rules in its list. A power of two. */
const addressBuckets = 128;
const portsOfBucket = 64;

type Bucket = { readonly name: string; readonly list: DispatchList; readonly entrance?: Rule };
/** Rules by their text, which also is their order: addresses and ports are unique, so any order does. */
type FilledBucket = Bucket & { readonly rules: Map<string, Rule> };

export function createDispatch({ node: { family }, layout }: RuleContext, tails: Tails): Dispatch {
  const buckets = new Map<DispatchList, Map<string, FilledBucket>>(
    Object.values(dispatchLists).map((list) => [list, new Map()]),
  );
  const bucketOf = (entry: DispatchEntry): Bucket =>
    layout.dispatch === 'flat'
      ? { name: entry.list.name, list: entry.list }
      : 'ip' in entry.at
        ? addressBucket(entry.list, entry.at.ip, family)
        : portBucket(entry.list, entry.at);
  const bucketsOf = (list: DispatchList): Map<string, FilledBucket> =>
    buckets.get(list) ?? new Map();
  const listChain = (list: DispatchList): Chain => {
    const inside = [...bucketsOf(list).values()].sort(byName);
    const rules = inside.flatMap(({ entrance, rules }) => entrance ?? inOrder(rules));
    return { ...list, rules: [...rules, ...(tails.get(list) ?? [])] };
  };
  const bucketChain = ({ list, name, rules }: FilledBucket): Chain => ({
    table: list.table,
    name,
    rules: inOrder(rules),
  });
  return {
    add(entries) {
      for (const entry of entries) {
        const bucket = bucketOf(entry);
        const inside = bucketsOf(bucket.list);
        const filled = inside.get(bucket.name) ?? { ...bucket, rules: new Map() };
        filled.rules.set(renderRule(entry.rule, family), entry.rule);
        inside.set(bucket.name, filled);
      }
    },
    remove(entries) {
      for (const entry of entries) {
        const { list, name } = bucketOf(entry);
        const filled = bucketsOf(list).get(name);
        filled?.rules.delete(renderRule(entry.rule, family));
        if (filled?.rules.size === 0) bucketsOf(list).delete(name);
      }
    },
    chainsOf(entries) {
      const lists = new Set<DispatchList>();
      const inside = new Map<string, FilledBucket>();
      for (const entry of entries) {
        const { list, name } = bucketOf(entry);
        const filled = bucketsOf(list).get(name);
        lists.add(list);
        if (filled?.entrance !== undefined) inside.set(`${list.table} ${name}`, filled);
      }
      return [...[...inside.values()].map(bucketChain), ...[...lists].map(listChain)];
    },
    allChains: () =>
      [...buckets].flatMap(([list, inside]) => [
        ...[...inside.values()].filter(({ entrance }) => entrance !== undefined).map(bucketChain),
        listChain(list),
      ]),
    positionOf: (entry) => `${bucketOf(entry).name} ${renderRule(entry.rule, family)}`,
  };
}

function addressBucket(list: DispatchList, ip: string, family: Family): Bucket {
  const low = (parseAddress(ip)?.value ?? 0n) & BigInt(addressBuckets - 1);
  const text = (value: bigint): string => formatAddress({ family, value });
  const name = `${list.name}-${low.toString(16).toUpperCase().padStart(2, '0')}`;
  const range = `${text(low)}/${text(BigInt(addressBuckets - 1))}`;
  return {
    name,
    list,
    entrance: { destination: { range }, target: { kind: 'jump', chain: name } },
  };
}

function portBucket(
  list: DispatchList,
  { protocol, port }: { readonly protocol: Protocol; readonly port: number },
): Bucket {
  const first = port - (port % portsOfBucket);
  const name = `${list.name}-${protocolName(protocol).toUpperCase()}-${first}`;
  const destinationPorts = { first, last: first + portsOfBucket - 1 };
  const target = { kind: 'jump', chain: name } as const;
  return { name, list, entrance: { protocol, destinationPorts, target } };
}

function inOrder(rules: ReadonlyMap<string, Rule>): readonly Rule[] {
  return [...rules].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, rule]) => rule);
}

function byName(a: Bucket, b: Bucket): number {
  return a.name < b.name ? -1 : 1;
}
