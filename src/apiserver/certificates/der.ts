// Writing DER, the byte form of certificates: only what an X.509 certificate needs, and no reading.

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Any tag with its length and content. */
export function tagged(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(content.length)]), content]);
}

function lengthBytes(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

export const sequence = (...items: readonly Uint8Array[]): Buffer =>
  tagged(tags.sequence, Buffer.concat(items));

export const setOf = (item: Uint8Array): Buffer => tagged(tags.set, item);

export const utf8String = (text: string): Buffer => tagged(tags.utf8String, Buffer.from(text));

export const octetString = (content: Uint8Array): Buffer => tagged(tags.octetString, content);

export const boolean = (value: boolean): Buffer =>
  tagged(tags.boolean, Buffer.from([value ? 0xff : 0]));

/** A whole number of any length, its most significant byte first, never negative. */
export function unsignedInteger(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const short = first === -1 ? Buffer.from([0]) : Buffer.from(bytes.subarray(first));
  // A leading bit of one would make it negative.
  const isNegative = ((short[0] ?? 0) & 0x80) !== 0;
  return tagged(tags.integer, isNegative ? Buffer.concat([Buffer.from([0]), short]) : short);
}

export function bitString(content: Uint8Array, unusedBits = 0): Buffer {
  return tagged(tags.bitString, Buffer.concat([Buffer.from([unusedBits]), content]));
}

export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(
    tags.objectIdentifier,
    Buffer.from([first * 40 + second, ...rest.flatMap(base128)]),
  );
}

function base128(value: number): readonly number[] {
  const bytes = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.unshift(0x80 | (rest % 128));
  }
  return bytes;
}

/** RFC 5280: two digits for the year through 2049, four from 2050. */
export function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, '');
  return date.getUTCFullYear() < 2050
    ? tagged(tags.utcTime, Buffer.from(digits.slice(2)))
    : tagged(tags.generalizedTime, Buffer.from(digits));
}

/** `[n]` around a content that keeps its own tag. */
export const explicit = (n: number, content: Uint8Array): Buffer => tagged(0xa0 | n, content);

/** `[n]` in place of the tag of a plain value. */
export const implicit = (n: number, content: Uint8Array): Buffer => tagged(0x80 | n, content);
