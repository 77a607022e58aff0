// nf_tables without the nft program: transactions go to the kernel as netlink batches, tables come back as objects.
import { familyNumber } from '../netlink/address-bytes.ts';
import { netfilterType, writeNetfilterHeader } from '../netlink/netfilter.ts';
import { type Netlink, type NetlinkOptions, openNetlink } from '../netlink/netlink.ts';
import { hasCode } from '../netlink/netlink-error.ts';
import { type Attributes, be32In, textIn } from '../netlink/read-attributes.ts';
import {
  attributesOf,
  decodeChain,
  decodeElements,
  decodeRule,
  decodeSet,
  type ListedRule,
  tableNameOf,
} from './decode-netlink.ts';
import { type BatchOptions, encodeTransaction } from './encode-netlink.ts';
import {
  elementsAttribute,
  generationAttribute,
  nftMessage,
  ruleAttribute,
  setAttribute,
  tableAttribute,
} from './netlink-names.ts';
import type { Chain, Element, NftSet, Table, Transaction } from './objects.ts';
import { ipFamilyOf } from './rule-expressions.ts';

export type ListedTable = {
  readonly chains: readonly Chain[];
  /** In order within each chain. */
  readonly rules: readonly ListedRule[];
  readonly sets: readonly NftSet[];
};

export type Nftables = {
  /**
   * All or nothing. Returns the size of what was sent. Throws NetlinkError; its `sequence` is the number of the refused
   * operation, counted from 1.
   */
  readonly apply: (transaction: Transaction, options?: BatchOptions) => Promise<number>;
  /** Increases with every change of any table in the namespace: equal numbers mean that nothing changed. */
  readonly readGeneration: () => Promise<number>;
  readonly listTables: () => Promise<readonly Table[]>;
  /** Undefined when there is no such table. */
  readonly readTable: (table: Table) => Promise<ListedTable | undefined>;
  /** None when there is no such set. */
  readonly readElements: (table: Table, set: NftSet) => Promise<readonly Element[]>;
  readonly close: () => Promise<void>;
};

/** On a thread of its own by default, because large transactions take the kernel seconds. */
export async function openNftables(
  options: Omit<NetlinkOptions, 'protocol'> = {},
): Promise<Nftables> {
  const netlink = await openNetlink({ thread: 'own', ...options, protocol: 'netfilter' });
  return {
    apply: async (transaction, batchOptions) => {
      const bytes = encodeTransaction(transaction, batchOptions);
      await netlink.batch({ doing: `change table "${transaction.table.name}"`, bytes });
      return bytes.length;
    },
    readGeneration: () => readGeneration(netlink),
    listTables: () => listTables(netlink),
    readTable: (table) => readTable(netlink, table),
    readElements: (table, set) => readElements(netlink, table, set),
    close: netlink.close,
  };
}

async function readGeneration(netlink: Netlink): Promise<number> {
  const [message] = await netlink.request({
    doing: 'read the generation of the rules',
    type: netfilterType('nftables', nftMessage.getGeneration),
    write: (writer) => writeNetfilterHeader(writer, 0),
  });
  return message === undefined ? 0 : (be32In(attributesOf(message), generationAttribute.id) ?? 0);
}

async function listTables(netlink: Netlink): Promise<Table[]> {
  const families = ['ip', 'ip6'] as const;
  const lists = families.map(async (family) =>
    (await list(netlink, { message: nftMessage.getTable, family })).map((attributes) => ({
      family,
      name: textIn(attributes, tableAttribute.name) ?? '',
    })),
  );
  return (await Promise.all(lists)).flat();
}

async function readTable(netlink: Netlink, table: Table): Promise<ListedTable | undefined> {
  const { family, name } = table;
  const tables = await list(netlink, { message: nftMessage.getTable, family });
  if (!tables.some((attributes) => tableNameOf(attributes) === name)) return undefined;
  const inTable = async (
    message: number,
    filter: Record<number, string> = {},
  ): Promise<Attributes[]> =>
    (await list(netlink, { message, family, filter })).filter(
      (attributes) => tableNameOf(attributes) === name,
    );
  const chains = await inTable(nftMessage.getChain);
  const rules = await inTable(nftMessage.getRule, { [ruleAttribute.table]: name });
  const sets = await inTable(nftMessage.getSet, { [setAttribute.table]: name });
  return {
    chains: chains.map(decodeChain),
    rules: rules.map(decodeRule),
    sets: sets.flatMap((attributes) => decodeSet(attributes, family) ?? []),
  };
}

/**
 * The kernel lists a hash table by position, and a table that grew meanwhile has another order: some elements are then listed
 * twice, and as many left out. A listing without duplicates is complete.
 */
const maxListings = 20;

async function readElements(netlink: Netlink, table: Table, set: NftSet): Promise<Element[]> {
  const found = new Map<string, Element>();
  for (let attempt = 1; ; attempt++) {
    const listed = await listElements(netlink, table, set);
    const keys = new Set(listed.map(keyText));
    if (keys.size === listed.length) return listed;
    for (const element of listed) found.set(keyText(element), element);
    if (attempt === maxListings) return [...found.values()];
  }
}

function keyText({ key }: Element): string {
  return key.join(' ');
}

async function listElements(netlink: Netlink, table: Table, set: NftSet): Promise<Element[]> {
  try {
    const messages = await list(netlink, {
      message: nftMessage.getElements,
      family: table.family,
      filter: { [elementsAttribute.table]: table.name, [elementsAttribute.set]: set.name },
    });
    return decodeElements(messages, set, table.family);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

type ListQuestion = {
  readonly message: number;
  readonly family: Table['family'];
  /** Text attributes that narrow the list, where the kernel looks at them. */
  readonly filter?: Readonly<Record<number, string>>;
};

async function list(
  netlink: Netlink,
  { message, family, filter = {} }: ListQuestion,
): Promise<Attributes[]> {
  const messages = await netlink.dump({
    doing: 'list rules',
    type: netfilterType('nftables', message),
    write: (writer) => {
      writeNetfilterHeader(writer, familyNumber[ipFamilyOf[family]]);
      for (const [type, text] of Object.entries(filter)) writer.attributeText(Number(type), text);
    },
  });
  return messages.map(attributesOf);
}
