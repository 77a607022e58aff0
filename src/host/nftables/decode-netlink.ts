// Chains, rules, sets and elements as the kernel lists them, back into our objects.
import type { NetlinkMessage } from '../netlink/messages.ts';
import { netfilterHeaderBytes } from '../netlink/netfilter.ts';
import {
  type Attributes,
  be32In,
  be64In,
  listIn,
  nestedIn,
  readAttributes,
  textIn,
} from '../netlink/read-attributes.ts';
import { type Expression, readData, readExpressions } from './expressions.ts';
import {
  chainAttribute,
  dataTypeVerdict,
  elementAttribute,
  elementFlag,
  elementsAttribute,
  hookAttribute,
  hookNumber,
  ruleAttribute,
  setAttribute,
  setDescription,
  setFlag,
  tableAttribute,
} from './netlink-names.ts';
import type { BaseHook, Chain, Element, FieldType, Hook, NftSet, TableFamily } from './objects.ts';
import { rangeText, splitScalars, typesOfNumber } from './set-types.ts';

/** A rule as it is in the kernel: instructions, to be compared with those of a wanted rule. */
export type ListedRule = {
  readonly chain: string;
  /** The kernel's number for the rule within the table. */
  readonly handle: bigint;
  /** Decoded on demand: a table can have a hundred thousand rules. */
  readonly readExpressions: () => readonly Expression[];
};

export function attributesOf(message: NetlinkMessage): Attributes {
  return readAttributes(message.payload.subarray(netfilterHeaderBytes));
}

/** The name of the table that any listed object is in: the same attribute everywhere. */
export function tableNameOf(attributes: Attributes): string | undefined {
  return textIn(attributes, tableAttribute.name);
}

export function decodeChain(attributes: Attributes): Chain {
  const name = textIn(attributes, chainAttribute.name) ?? '';
  const hook = nestedIn(attributes, chainAttribute.hook);
  const number = be32In(hook, hookAttribute.number);
  const type = textIn(attributes, chainAttribute.type);
  if (number === undefined || type === undefined) return { name };
  const base: BaseHook = {
    type: type === 'nat' ? 'nat' : 'filter',
    hook: hooks.find((candidate) => hookNumber[candidate] === number) ?? 'prerouting',
    priority: (be32In(hook, hookAttribute.priority) ?? 0) | 0,
  };
  return { name, base };
}

const hooks: readonly Hook[] = ['prerouting', 'input', 'forward', 'output', 'postrouting'];

export function decodeRule(attributes: Attributes): ListedRule {
  return {
    chain: textIn(attributes, ruleAttribute.chain) ?? '',
    handle: be64In(attributes, ruleAttribute.handle) ?? 0n,
    readExpressions: () => readExpressions(attributes, ruleAttribute.expressions),
  };
}

/** Undefined for a set with types that this program does not use: another program made it. */
export function decodeSet(attributes: Attributes, family: TableFamily): NftSet | undefined {
  const flags = be32In(attributes, setAttribute.flags) ?? 0;
  const key = typesOfNumber(be32In(attributes, setAttribute.keyType) ?? 0, family);
  const data = flags & setFlag.map ? decodeDataType(attributes, family) : undefined;
  if (key === undefined || (data === undefined && flags & setFlag.map)) return undefined;
  const size = be32In(nestedIn(attributes, setAttribute.description), setDescription.size);
  return {
    name: textIn(attributes, setAttribute.name) ?? '',
    key,
    ...(data === undefined ? {} : { data }),
    ...(flags & setFlag.interval ? { hasIntervals: true } : {}),
    ...(flags & setFlag.dynamic && size !== undefined ? { dynamicSize: size } : {}),
  };
}

function decodeDataType(
  attributes: Attributes,
  family: TableFamily,
): 'verdict' | FieldType[] | undefined {
  const number = be32In(attributes, setAttribute.dataType) ?? 0;
  return number === dataTypeVerdict ? 'verdict' : typesOfNumber(number, family);
}

/** The elements of all messages that list one set. */
export function decodeElements(
  messages: readonly Attributes[],
  set: NftSet,
  family: TableFamily,
): Element[] {
  const entries = messages.flatMap((attributes) =>
    listIn(attributes, elementsAttribute.elements).map(({ value }) => readAttributes(value)),
  );
  if (set.hasIntervals && set.key.length === 1) return joinRanges(entries, set, family);
  return entries.map((entry) => {
    const last = keyIn(entry, elementAttribute.keyEnd);
    return {
      key: splitScalars(keyIn(entry, elementAttribute.key) ?? new Uint8Array(), set.key, {
        family,
        ...(last === undefined ? {} : { last }),
      }),
      ...decodeData(entry, set, family),
    };
  });
}

function keyIn(entry: Attributes, type: number): Uint8Array | undefined {
  const key = readData(nestedIn(entry, type));
  return key instanceof Uint8Array ? key : undefined;
}

function decodeData(entry: Attributes, set: NftSet, family: TableFamily): Pick<Element, 'data'> {
  const data = readData(nestedIn(entry, elementAttribute.data));
  if (data === undefined || set.data === undefined) return {};
  if (!(data instanceof Uint8Array)) return { data };
  return set.data === 'verdict' ? {} : { data: splitScalars(data, set.data, { family }) };
}

/** A range starts at one element and ends before the next one with the end flag; the last may have no end. */
function joinRanges(entries: readonly Attributes[], set: NftSet, family: TableFamily): Element[] {
  const points = entries
    .flatMap((entry) => {
      const key = keyIn(entry, elementAttribute.key);
      const flags = be32In(entry, elementAttribute.flags) ?? 0;
      return key === undefined
        ? []
        : [{ entry, key, isEnd: (flags & elementFlag.intervalEnd) !== 0 }];
    })
    // Where one range ends and the next starts, the end sorts first.
    .sort((a, b) => Buffer.compare(a.key, b.key) || Number(b.isEnd) - Number(a.isEnd));
  return points.flatMap(({ entry, key, isEnd }, at) => {
    if (isEnd) return [];
    const end = points[at + 1];
    const last = end === undefined ? new Uint8Array(key.length).fill(0xff) : predecessor(end.key);
    return [{ key: [rangeText(key, last)], ...decodeData(entry, set, family) }];
  });
}

function predecessor(bytes: Uint8Array): Uint8Array {
  const result = Uint8Array.from(bytes);
  for (let at = result.length - 1; at >= 0; at--) {
    const byte = result[at] ?? 0;
    result[at] = (byte - 1) & 0xff;
    if (byte !== 0) return result;
  }
  return result;
}
