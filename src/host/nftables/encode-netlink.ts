// A transaction as one netlink batch: the kernel takes all of it or nothing.
import { familyNumber } from '../netlink/address-bytes.ts';
import { type AttributeWriter, createAttributeWriter } from '../netlink/attributes.ts';
import { messageFlag, writeMessage } from '../netlink/messages.ts';
import { netfilterSubsystem, netfilterType, writeNetfilterHeader } from '../netlink/netfilter.ts';
import { writeElement } from './encode-elements.ts';
import { writeExpressions } from './expressions.ts';
import {
  chainAttribute,
  dataTypeVerdict,
  elementsAttribute,
  fieldLengthAttribute,
  hookAttribute,
  hookNumber,
  listEntry,
  nftMessage,
  policyAccept,
  ruleAttribute,
  setAttribute,
  setDescription,
  setFlag,
  tableAttribute,
} from './netlink-names.ts';
import type { Chain, NftSet, Operation, Rule, Table, TableFamily, Transaction } from './objects.ts';
import { ipFamilyOf, ruleExpressions } from './rule-expressions.ts';
import { keyBytes, typeBytes, typeNumberOf } from './set-types.ts';
import { setUserdata } from './set-userdata.ts';

export type BatchOptions = {
  /** Refuse the batch (ERESTART) when the rules of this machine are of another generation. */
  readonly generation?: number;
};

const batchMessage = { begin: 0x10, end: 0x11 } as const;
const batchGeneration = 1;
/** A list of elements is one attribute, of 64 KiB at most; one more element must still fit below that. */
const elementListBytes = 48 * 1024;

/** Messages are numbered by operation: the first has 1. An error thus names the operation that the kernel refused. */
export function encodeTransaction(
  transaction: Transaction,
  options: BatchOptions = {},
): Uint8Array {
  const writer = createAttributeWriter();
  const { operations } = transaction;
  writeBatchEdge(writer, batchMessage.begin, 0, options.generation);
  for (const [at, operation] of operations.entries()) {
    const write = createWriteMessage(writer, transaction, at + 1);
    writeOperation({ writer, write, table: transaction.table }, operation);
  }
  writeBatchEdge(writer, batchMessage.end, operations.length + 1);
  return writer.bytes();
}

function writeBatchEdge(
  writer: AttributeWriter,
  type: number,
  sequence: number,
  generation?: number,
): void {
  writeMessage(writer, { type, flags: messageFlag.request, sequence }, () => {
    writeNetfilterHeader(writer, 0, netfilterSubsystem.nftables);
    if (generation !== undefined) writer.attributeBe32(batchGeneration, generation);
  });
}

/** Writes one message about the table. */
type WriteMessage = (type: number, flags: number, body: () => void) => void;

function createWriteMessage(
  writer: AttributeWriter,
  { table }: Transaction,
  sequence: number,
): WriteMessage {
  const family = familyNumber[ipFamilyOf[table.family]];
  return (message, flags, body) => {
    const type = netfilterType('nftables', message);
    writeMessage(writer, { type, flags: messageFlag.request | flags, sequence }, () => {
      writeNetfilterHeader(writer, family);
      // The table's name is the first attribute of every message.
      writer.attributeText(tableAttribute.name, table.name);
      body();
    });
  };
}

type Target = {
  readonly writer: AttributeWriter;
  readonly write: WriteMessage;
  readonly table: Table;
};

function writeOperation({ writer, write, table }: Target, operation: Operation): void {
  if (operation.kind === 'add-elements' || operation.kind === 'delete-elements') {
    writeElements(writer, write, operation);
    return;
  }
  const [type, flags] = messageOf[operation.kind];
  write(type, flags, () => writeOperationBody(writer, operation, table));
}

const { create, append } = messageFlag;

/** The message of each operation, and its flags. */
const messageOf = {
  'add-table': [nftMessage.newTable, create],
  'delete-table': [nftMessage.deleteTable, 0],
  'add-chain': [nftMessage.newChain, create],
  // To delete rules without saying which is to delete all of the chain.
  'flush-chain': [nftMessage.deleteRule, 0],
  'delete-chain': [nftMessage.deleteChain, 0],
  'add-rule': [nftMessage.newRule, create | append],
  'add-set': [nftMessage.newSet, create],
  'delete-set': [nftMessage.deleteSet, 0],
  'add-elements': [nftMessage.newElements, create],
  'delete-elements': [nftMessage.deleteElements, 0],
} as const;

function writeOperationBody(writer: AttributeWriter, operation: Operation, table: Table): void {
  switch (operation.kind) {
    case 'add-chain':
      writeChain(writer, operation.chain);
      break;
    case 'flush-chain':
      writer.attributeText(ruleAttribute.chain, operation.chain);
      break;
    case 'delete-chain':
      writer.attributeText(chainAttribute.name, operation.chain);
      break;
    case 'add-rule':
      writeRule(writer, operation.rule, table);
      break;
    case 'add-set':
      writeSet(writer, operation.set, table);
      break;
    case 'delete-set':
      writer.attributeText(setAttribute.name, operation.set);
      break;
  }
}

function writeChain(writer: AttributeWriter, { name, base }: Chain): void {
  writer.attributeText(chainAttribute.name, name);
  if (base === undefined) return;
  writer.attributeText(chainAttribute.type, base.type);
  writer.attributeBe32(chainAttribute.policy, policyAccept);
  writer.nested(chainAttribute.hook, () => {
    writer.attributeBe32(hookAttribute.number, hookNumber[base.hook]);
    writer.attributeBe32(hookAttribute.priority, base.priority >>> 0);
  });
}

function writeRule(writer: AttributeWriter, rule: Rule, table: Table): void {
  writer.attributeText(ruleAttribute.chain, rule.chain);
  writeExpressions(writer, ruleAttribute.expressions, ruleExpressions(rule, table.family));
}

function writeSet(writer: AttributeWriter, set: NftSet, { family }: Table): void {
  const { key, data } = set;
  writer.attributeText(setAttribute.name, set.name);
  writer.attributeBe32(setAttribute.flags, setFlags(set));
  writer.attributeBe32(setAttribute.keyType, typeNumberOf(key, family));
  writer.attributeBe32(setAttribute.keyLength, keyBytes(key, family));
  if (data === 'verdict') {
    writer.attributeBe32(setAttribute.dataType, dataTypeVerdict);
    writer.attributeBe32(setAttribute.dataLength, 0);
  } else if (data !== undefined) {
    writer.attributeBe32(setAttribute.dataType, typeNumberOf(data, family));
    writer.attributeBe32(setAttribute.dataLength, keyBytes(data, family));
  }
  // Required, and without meaning: nothing in our batches refers to a set by number.
  writer.attributeBe32(setAttribute.id, 1);
  if (set.hasIntervals && key.length > 1) writeFieldLengths(writer, set, family);
  if (set.dynamicSize !== undefined) writeSize(writer, set.dynamicSize);
  writer.attribute(setAttribute.userdata, setUserdata(set, family));
}

function setFlags({ key, data, hasIntervals, dynamicSize }: NftSet): number {
  const isRanged = hasIntervals === true;
  return (
    (data === undefined ? 0 : setFlag.map) |
    (isRanged ? setFlag.interval : 0) |
    (isRanged && key.length > 1 ? setFlag.concatenation : 0) |
    (dynamicSize === undefined ? 0 : setFlag.timeout | setFlag.dynamic)
  );
}

function writeSize(writer: AttributeWriter, size: number): void {
  writer.nested(setAttribute.description, () => writer.attributeBe32(setDescription.size, size));
}

/** Where the fields of a key are, for the kind of set that looks at them one by one. */
function writeFieldLengths(writer: AttributeWriter, { key }: NftSet, family: TableFamily): void {
  writer.nested(setAttribute.description, () =>
    writer.nested(setDescription.concatenation, () => {
      for (const type of key) {
        writer.nested(listEntry, () =>
          writer.attributeBe32(fieldLengthAttribute, typeBytes(type, family)),
        );
      }
    }),
  );
}

/** As many messages as it takes; the batch keeps them one change. */
function writeElements(
  writer: AttributeWriter,
  write: WriteMessage,
  { kind, set, elements }: Extract<Operation, { readonly set: NftSet; readonly elements: unknown }>,
): void {
  const [type, flags] = messageOf[kind];
  for (let at = 0; at < elements.length; ) {
    write(type, flags, () => {
      writer.attributeText(elementsAttribute.set, set.name);
      writer.nested(elementsAttribute.elements, () => {
        const start = writer.length();
        for (; at < elements.length && writer.length() - start < elementListBytes; at++) {
          const element = elements[at];
          if (element !== undefined) writeElement(writer, set, element);
        }
      });
    });
  }
}
