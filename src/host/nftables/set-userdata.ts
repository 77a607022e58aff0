// What nft keeps with a set for its own use, so that it lists the set as it was declared: byte orders, and for sets that
// were declared by example (`typeof`) the example. The kernel stores it unread. Types are one byte, lengths one byte.
import type { FieldType, NftSet, TableFamily } from './objects.ts';

const entry = {
  keyOrder: 0,
  dataOrder: 1,
  keyExample: 3,
  dataExample: 4,
  dataInterval: 6,
} as const;
const byteOrder = { none: 0, host: 1, network: 2 } as const;

/** nft's numbers for its kinds of expressions, headers and header fields. */
const expressionKind = { payload: 7, meta: 9, concatenation: 13, numgen: 23 } as const;
const header = { transport: 11, ip: 12, ip6: 13 } as const;
const destinationField = { ip: 12, ip6: 9 } as const;
const destinationPortField = 2;
const metaKey = { mark: 3, protocol: 16 } as const;
const numgenRandom = 1;
/** The text writer declares index fields with `numgen random mod 2`. */
const exampleModulus = 2;

export function setUserdata(set: NftSet, family: TableFamily): Uint8Array {
  const { key, data } = set;
  // An index has no name as a type: with one in the key nft knows the whole set by example.
  const byExample = key.includes('index');
  const describe = (type: number, types: readonly FieldType[]): Buffer =>
    byExample || types.length > 1 ? tlv(type, example(types, family, byExample)) : Buffer.alloc(0);
  const parts = [u32(entry.keyOrder, orderOf(key))];
  if (data !== undefined)
    parts.push(u32(entry.dataOrder, data === 'verdict' ? byteOrder.none : orderOf(data)));
  parts.push(describe(entry.keyExample, key));
  if (data !== undefined && data !== 'verdict') parts.push(describe(entry.dataExample, data));
  if (data !== undefined) parts.push(u32(entry.dataInterval, 0));
  return Buffer.concat(parts);
}

function orderOf(types: readonly FieldType[]): number {
  const [type] = types;
  if (types.length !== 1 || type === undefined || type === 'protocol') return byteOrder.none;
  return type === 'index' || type === 'mark' ? byteOrder.host : byteOrder.network;
}

function example(types: readonly FieldType[], family: TableFamily, byExample: boolean): Buffer {
  const [only] = types;
  if (only !== undefined && types.length === 1) return fieldExample(only, family);
  const fields = byExample
    ? types.map((type, at) => tlv(at, fieldExample(type, family)))
    : [Buffer.alloc(0)];
  return expression(expressionKind.concatenation, Buffer.concat(fields));
}

function fieldExample(type: FieldType, family: TableFamily): Buffer {
  switch (type) {
    case 'address':
      return payload(header[family], destinationField[family]);
    case 'port':
      return payload(header.transport, destinationPortField);
    case 'protocol':
      return expression(expressionKind.meta, u32(0, metaKey.protocol));
    case 'mark':
      return expression(expressionKind.meta, u32(0, metaKey.mark));
    case 'index':
      return expression(
        expressionKind.numgen,
        Buffer.concat([u32(0, numgenRandom), u32(1, exampleModulus), u32(2, 0)]),
      );
  }
}

function payload(headerNumber: number, field: number): Buffer {
  return expression(expressionKind.payload, Buffer.concat([u32(0, headerNumber), u32(1, field)]));
}

function expression(kind: number, details: Buffer): Buffer {
  return Buffer.concat([u32(0, kind), tlv(1, details)]);
}

function u32(type: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return tlv(type, bytes);
}

function tlv(type: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.of(type, value.length), value]);
}
