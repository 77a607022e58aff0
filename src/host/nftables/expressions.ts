// The instructions of the kernel's little machine for rules, one attribute table for writing and reading them.
// Registers are four bytes wide each; numbers 1 to 4 name groups of four, and the kernel prefers those when it lists.
import type { AttributeWriter } from '../netlink/attributes.ts';
import {
  type Attributes,
  be32In,
  be64In,
  listIn,
  nestedIn,
  readAttributes,
  textIn,
  u8In,
} from '../netlink/read-attributes.ts';
import type { Verdict } from './objects.ts';

export type Expression = {
  readonly name: string;
  readonly values: Readonly<Record<string, ExpressionValue>>;
};

/** Bytes are register contents, exactly as long as what they are compared with. */
export type ExpressionValue = number | string | Uint8Array | Verdict;

type Form = 'be32' | 'be64' | 'u8' | 'text' | 'data';

/** `include/uapi/linux/netfilter/nf_tables.h`, as far as our rules go. */
const shapes: Readonly<Record<string, Readonly<Record<string, readonly [number, Form]>>>> = {
  payload: {
    destination: [1, 'be32'],
    base: [2, 'be32'],
    offset: [3, 'be32'],
    length: [4, 'be32'],
  },
  meta: { destination: [1, 'be32'], key: [2, 'be32'], source: [3, 'be32'] },
  ct: { destination: [1, 'be32'], key: [2, 'be32'] },
  fib: { destination: [1, 'be32'], result: [2, 'be32'], flags: [3, 'be32'] },
  numgen: {
    destination: [1, 'be32'],
    modulus: [2, 'be32'],
    type: [3, 'be32'],
    offset: [4, 'be32'],
  },
  cmp: { source: [1, 'be32'], operation: [2, 'be32'], value: [3, 'data'] },
  bitwise: {
    source: [1, 'be32'],
    destination: [2, 'be32'],
    length: [3, 'be32'],
    mask: [4, 'data'],
    xor: [5, 'data'],
  },
  lookup: { set: [1, 'text'], source: [2, 'be32'], destination: [3, 'be32'], flags: [5, 'be32'] },
  immediate: { destination: [1, 'be32'], value: [2, 'data'] },
  dynset: { set: [1, 'text'], operation: [3, 'be32'], key: [4, 'be32'], timeoutMs: [6, 'be64'] },
  nat: { type: [1, 'be32'], family: [2, 'be32'], address: [3, 'be32'], port: [5, 'be32'] },
  masq: { flags: [1, 'be32'] },
  reject: { type: [1, 'be32'], code: [2, 'u8'] },
};

type ExpressionField = { readonly key: string; readonly type: number; readonly form: Form };

/** The same as lists, made once: a table has a hundred thousand expressions. */
const fieldsOf: ReadonlyMap<string, readonly ExpressionField[]> = new Map(
  Object.entries(shapes).map(([name, shape]) => [
    name,
    Object.entries(shape).map(([key, [type, form]]) => ({ key, type, form })),
  ]),
);

const expressionAttribute = { name: 1, values: 2 } as const;
const dataAttribute = { bytes: 1, verdict: 2 } as const;
const verdictAttribute = { code: 1, chain: 2 } as const;
const listEntry = 1;

const verdictCode = { accept: 1, drop: 0, jump: -3, goto: -4, return: -5 } as const;

/** The register that starts at this byte. */
export function registerAt(byteOffset: number): number {
  return byteOffset % 16 === 0 ? 1 + byteOffset / 16 : 8 + byteOffset / 4;
}

export const verdictRegister = 0;

export function writeExpressions(
  writer: AttributeWriter,
  type: number,
  expressions: readonly Expression[],
): void {
  writer.nested(type, () => {
    for (const expression of expressions) {
      writer.nested(listEntry, () => writeExpression(writer, expression));
    }
  });
}

function writeExpression(writer: AttributeWriter, { name, values }: Expression): void {
  const fields = fieldsOf.get(name);
  if (fields === undefined)
    throw new RangeError(`Cannot write expression "${name}": it is not known`);
  writer.attributeText(expressionAttribute.name, name);
  writer.nested(expressionAttribute.values, () => {
    for (const field of fields) {
      const value = values[field.key];
      if (value !== undefined) writeValue(writer, field, value);
    }
  });
}

function writeValue(
  writer: AttributeWriter,
  { type, form }: ExpressionField,
  value: ExpressionValue,
): void {
  if (typeof value === 'string') writer.attributeText(type, value);
  else if (typeof value !== 'number') writeData(writer, type, value);
  else if (form === 'u8') writer.attributeU8(type, value);
  else if (form === 'be64') writer.attributeBe64(type, BigInt(value));
  else writer.attributeBe32(type, value);
}

/** `struct nft_data`: bytes, or what to do next. */
export function writeData(writer: AttributeWriter, type: number, data: Uint8Array | Verdict): void {
  writer.nested(type, () => {
    if (data instanceof Uint8Array) writer.attribute(dataAttribute.bytes, data);
    else writer.nested(dataAttribute.verdict, () => writeVerdict(writer, data));
  });
}

function writeVerdict(writer: AttributeWriter, verdict: Verdict): void {
  writer.attributeBe32(verdictAttribute.code, verdictCode[verdict.kind] >>> 0);
  if ('chain' in verdict) writer.attributeText(verdictAttribute.chain, verdict.chain);
}

/** What we do not know reads as an expression without values: equal to none of ours. */
export function readExpressions(attributes: Attributes, type: number): Expression[] {
  return listIn(attributes, type).map(({ value }) => {
    const expression = readAttributes(value);
    const name = textIn(expression, expressionAttribute.name) ?? '';
    return { name, values: readValues(name, nestedIn(expression, expressionAttribute.values)) };
  });
}

function readValues(name: string, attributes: Attributes): Expression['values'] {
  const values: Record<string, ExpressionValue> = {};
  for (const { key, type, form } of fieldsOf.get(name) ?? []) {
    const value = readValue(attributes, type, form);
    if (value !== undefined) values[key] = value;
  }
  return values;
}

function readValue(attributes: Attributes, type: number, form: Form): ExpressionValue | undefined {
  switch (form) {
    case 'be32':
      return be32In(attributes, type);
    case 'be64':
      return numberOf(be64In(attributes, type));
    case 'u8':
      return u8In(attributes, type);
    case 'text':
      return textIn(attributes, type);
    case 'data':
      return readData(nestedIn(attributes, type));
  }
}

function numberOf(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

export function readData(data: Attributes): Uint8Array | Verdict | undefined {
  const bytes = data.get(dataAttribute.bytes);
  if (bytes !== undefined) return Uint8Array.from(bytes);
  const verdict = nestedIn(data, dataAttribute.verdict);
  const code = be32In(verdict, verdictAttribute.code);
  const chain = textIn(verdict, verdictAttribute.chain) ?? '';
  switch (code === undefined ? undefined : code | 0) {
    case verdictCode.accept:
      return { kind: 'accept' };
    case verdictCode.drop:
      return { kind: 'drop' };
    case verdictCode.return:
      return { kind: 'return' };
    case verdictCode.jump:
      return { kind: 'jump', chain };
    case verdictCode.goto:
      return { kind: 'goto', chain };
    default:
      return undefined;
  }
}
