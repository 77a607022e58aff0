// The types of sets: how wide a field is, which bytes a value has, and by which numbers nft knows them when it lists.
import { addressBytes, addressText, parsePrefix } from '../netlink/address-bytes.ts';
import type { FieldType, Scalar, TableFamily } from './objects.ts';

const transportNumber: Readonly<Record<string, number>> = { tcp: 6, udp: 17, sctp: 132 };

/** nft's own numbers; the kernel keeps them without looking. Concatenations have six bits for each. */
const typeNumber: Record<TableFamily, Record<FieldType, number>> = {
  ip: { address: 7, protocol: 12, port: 13, index: 4, mark: 19 },
  ip6: { address: 8, protocol: 12, port: 13, index: 4, mark: 19 },
};
const typeBits = 6;

export function typeBytes(type: FieldType, family: TableFamily): number {
  switch (type) {
    case 'address':
      return family === 'ip' ? 4 : 16;
    case 'protocol':
      return 1;
    case 'port':
      return 2;
    case 'index':
    case 'mark':
      return 4;
  }
}

export function paddedLength(bytes: number): number {
  return (bytes + 3) & ~3;
}

/** A key of several fields has each of them padded; one of a single field has it bare. */
export function keyBytes(types: readonly FieldType[], family: TableFamily): number {
  const [only] = types;
  if (only !== undefined && types.length === 1) return typeBytes(only, family);
  return types.reduce((sum, type) => sum + paddedLength(typeBytes(type, family)), 0);
}

export function typeNumberOf(types: readonly FieldType[], family: TableFamily): number {
  return types.reduce((number, type) => (number << typeBits) | typeNumber[family][type], 0) >>> 0;
}

/** The types behind a number; undefined when one is none of ours. */
export function typesOfNumber(number: number, family: TableFamily): FieldType[] | undefined {
  const types: FieldType[] = [];
  for (let rest = number; rest > 0; rest >>>= typeBits) {
    const type = fieldTypes.find(
      (candidate) => typeNumber[family][candidate] === (rest & ((1 << typeBits) - 1)),
    );
    if (type === undefined) return undefined;
    types.unshift(type);
  }
  return types;
}

const fieldTypes: readonly FieldType[] = ['address', 'protocol', 'port', 'index', 'mark'];

/** One value's bytes; of a range the first. */
export function scalarBytes(type: FieldType, value: Scalar): Uint8Array {
  switch (type) {
    case 'address':
      return typeof value === 'string' && value.includes('/')
        ? rangeBytes(value).first
        : addressBytes(String(value));
    case 'protocol': {
      const number = transportNumber[value];
      if (number === undefined) throw new RangeError(`Cannot use "${value}" as a transport`);
      return Uint8Array.of(number);
    }
    case 'port':
      return Uint8Array.of((Number(value) >> 8) & 0xff, Number(value) & 0xff);
    case 'index':
    case 'mark': {
      const bytes = new Uint8Array(4);
      new DataView(bytes.buffer).setUint32(0, Number(value), true);
      return bytes;
    }
  }
}

export type ByteRange = { readonly first: Uint8Array; readonly last: Uint8Array };

/** The addresses of a prefix; of an address alone just that one. */
export function rangeBytes(text: string): ByteRange {
  const { bytes, length } = parsePrefix(text);
  const first = new Uint8Array(bytes.length);
  const last = new Uint8Array(bytes.length);
  for (const [at, byte] of bytes.entries()) {
    const fixed = Math.min(8, Math.max(0, length - at * 8));
    const free = 0xff >> fixed;
    first[at] = byte & ~free;
    last[at] = byte | free;
  }
  return { first, last };
}

/** The values of a key or of data, written side by side. */
export function joinScalars(
  types: readonly FieldType[],
  values: readonly Scalar[],
  end: 'first' | 'last' = 'first',
): Uint8Array {
  const parts = types.map((type, at) => {
    const value = values[at];
    if (value === undefined)
      throw new RangeError(`A key of ${types.join(' . ')} lacks its ${type}`);
    return end === 'last' && type === 'address'
      ? rangeBytes(String(value)).last
      : scalarBytes(type, value);
  });
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + paddedLength(part.length), 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += paddedLength(part.length);
  }
  return bytes;
}

/** The reverse of joinScalars; with the last key of a range, addresses that differ become prefixes. */
export function splitScalars(
  bytes: Uint8Array,
  types: readonly FieldType[],
  { family, last }: { readonly family: TableFamily; readonly last?: Uint8Array },
): Scalar[] {
  let at = 0;
  return types.map((type) => {
    const length = typeBytes(type, family);
    const part = bytes.subarray(at, at + length);
    const end = last?.subarray(at, at + length);
    at += paddedLength(length);
    return type === 'address' && end !== undefined ? rangeText(part, end) : scalarOf(type, part);
  });
}

/** A range as a prefix, or with a dash when it is none. */
export function rangeText(first: Uint8Array, last: Uint8Array): string {
  let bits = 0;
  while (bits < first.length * 8 && bitOf(first, bits) === bitOf(last, bits)) bits++;
  if (bits === first.length * 8) return addressText(first);
  const { first: lowest, last: highest } = rangeBytes(`${addressText(first)}/${bits}`);
  const isPrefix = Buffer.compare(lowest, first) === 0 && Buffer.compare(highest, last) === 0;
  return isPrefix ? `${addressText(first)}/${bits}` : `${addressText(first)}-${addressText(last)}`;
}

function bitOf(bytes: Uint8Array, bit: number): number {
  return ((bytes[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
}

function scalarOf(type: FieldType, bytes: Uint8Array): Scalar {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  switch (type) {
    case 'address':
      return addressText(bytes);
    case 'protocol': {
      const number = view.getUint8(0);
      return (
        Object.keys(transportNumber).find((name) => transportNumber[name] === number) ?? number
      );
    }
    case 'port':
      return view.getUint16(0);
    case 'index':
    case 'mark':
      return view.getUint32(0, true);
  }
}
