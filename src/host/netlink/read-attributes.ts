// Reads attributes of the kernel's replies without copying bytes. Absent attributes read as undefined.
import { alignAttribute } from './attributes.ts';

const headerBytes = 4;
/** The upper two bits say "nested" and "network order"; neither is part of the name. */
const typeMask = 0x3fff;

export type Attribute = { readonly type: number; readonly value: Uint8Array };

/** By type; of attributes with the same type the last, as the kernel itself reads them. */
export type Attributes = ReadonlyMap<number, Uint8Array>;

export function readAttributes(bytes: Uint8Array): Attributes {
  const attributes = new Map<number, Uint8Array>();
  for (const { type, value } of readAttributeList(bytes)) attributes.set(type, value);
  return attributes;
}

/** In order, for lists that give every entry the same type. Throws RangeError when one is cut short. */
export function readAttributeList(bytes: Uint8Array): Attribute[] {
  const view = viewOf(bytes);
  const attributes: Attribute[] = [];
  for (let at = 0; at + headerBytes <= bytes.length; ) {
    const length = view.getUint16(at, true);
    if (length < headerBytes || at + length > bytes.length) {
      throw new RangeError(`A netlink attribute at byte ${at} of ${bytes.length} is cut short`);
    }
    const value = bytes.subarray(at + headerBytes, at + length);
    attributes.push({ type: view.getUint16(at + 2, true) & typeMask, value });
    at += alignAttribute(length);
  }
  return attributes;
}

export function nestedIn(attributes: Attributes, type: number): Attributes {
  return readAttributes(attributes.get(type) ?? none);
}

export function listIn(attributes: Attributes, type: number): readonly Attribute[] {
  return readAttributeList(attributes.get(type) ?? none);
}

export function u8In(attributes: Attributes, type: number): number | undefined {
  return attributes.get(type)?.[0];
}

export function u16In(attributes: Attributes, type: number): number | undefined {
  return read(attributes, type, (view) => view.getUint16(0, true));
}

export function u32In(attributes: Attributes, type: number): number | undefined {
  return read(attributes, type, (view) => view.getUint32(0, true));
}

export function u64In(attributes: Attributes, type: number): bigint | undefined {
  return read(attributes, type, (view) => view.getBigUint64(0, true));
}

export function be16In(attributes: Attributes, type: number): number | undefined {
  return read(attributes, type, (view) => view.getUint16(0));
}

export function be32In(attributes: Attributes, type: number): number | undefined {
  return read(attributes, type, (view) => view.getUint32(0));
}

export function be64In(attributes: Attributes, type: number): bigint | undefined {
  return read(attributes, type, (view) => view.getBigUint64(0));
}

/** Up to the first zero byte. */
export function textIn(attributes: Attributes, type: number): string | undefined {
  const bytes = attributes.get(type);
  if (bytes === undefined) return undefined;
  const end = bytes.indexOf(0);
  return Buffer.from(
    bytes.buffer,
    bytes.byteOffset,
    end === -1 ? bytes.byteLength : end,
  ).toString();
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const none = new Uint8Array();

function read<Value>(
  attributes: Attributes,
  type: number,
  decode: (view: DataView) => Value,
): Value | undefined {
  const bytes = attributes.get(type);
  return bytes === undefined ? undefined : decode(viewOf(bytes));
}
