// IP addresses as numbers, with two parsers: strict, as Go's netip, and sloppy, as Kubernetes has always read stored
// values.

export type Family = 'IPv4' | 'IPv6';

export type Address = {
  readonly family: Family;
  readonly value: bigint;
  /** IPv4-mapped IPv6 (`::ffff:10.0.0.1`); only the strict parser distinguishes it. */
  readonly mapped?: true;
};

const bits = { IPv4: 32, IPv6: 128 } as const;
const mappedPrefix = 0xffffn;

export function addressBits(family: Family): number {
  return bits[family];
}

/** Strict: no leading zeros, no zone. */
export function parseAddress(text: string): Address | undefined {
  if (text.includes(':')) return parseIPv6(text, strictForm);
  const value = parseIPv4(text, strictForm);
  return value === undefined ? undefined : { family: 'IPv4', value: BigInt(value) };
}

/** Ignores leading zeros; a mapped address becomes IPv4. */
export function parseAddressSloppy(text: string): Address | undefined {
  const address = text.includes(':') ? parseIPv6(text, sloppyForm) : sloppyIPv4(text);
  return address === undefined ? undefined : unmapped(address);
}

/** A mapped address as IPv4; others unchanged. */
export function unmapped(address: Address): Address {
  return address.mapped ? { family: 'IPv4', value: address.value & 0xffffffffn } : address;
}

/** RFC 5952 for IPv6, dotted decimal for IPv4. */
export function formatAddress(address: Address): string {
  if (address.family === 'IPv4') return formatIPv4(Number(address.value));
  if (address.mapped) return `::ffff:${formatIPv4(Number(address.value & 0xffffffffn))}`;
  return formatIPv6(address.value);
}

export function familyOf(text: string): Family | undefined {
  return parseAddressSloppy(text)?.family;
}

export function isIPv6(text: string): boolean {
  return familyOf(text) === 'IPv6';
}

/** IPv4 before IPv6, then numerically. */
export function compareAddresses(a: Address, b: Address): number {
  if (a.family !== b.family) return a.family === 'IPv4' ? -1 : 1;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

export function isUnspecified(address: Address): boolean {
  return unmapped(address).value === 0n;
}

export function isLoopback(address: Address): boolean {
  const { family, value } = unmapped(address);
  return family === 'IPv4' ? value >> 24n === 127n : value === 1n;
}

export function isLinkLocalUnicast(address: Address): boolean {
  const { family, value } = unmapped(address);
  return family === 'IPv4' ? value >> 16n === 0xa9fen : value >> 118n === 0x3fan;
}

/** 224.0.0.0/24, and IPv6 multicast of link-local scope with any flags. */
export function isLinkLocalMulticast(address: Address): boolean {
  const { family, value } = unmapped(address);
  return family === 'IPv4' ? value >> 8n === 0xe00000n : ((value >> 112n) & 0xff0fn) === 0xff02n;
}

type Form = { readonly leadingZeros: boolean; readonly group: RegExp };

const strictForm: Form = { leadingZeros: false, group: /^[0-9a-fA-F]{1,4}$/ };
const sloppyForm: Form = { leadingZeros: true, group: /^0*[0-9a-fA-F]{1,4}$/ };

const dot = 0x2e;
const digitZero = 0x30;

/** Character by character, because every write of a Service parses its addresses several times. */
function parseIPv4(text: string, { leadingZeros }: Form): number | undefined {
  let value = 0;
  let octet = 0;
  let digits = 0;
  let octets = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === dot) {
      if (digits === 0 || octets === 4) return undefined;
      value = value * 256 + octet;
      octets += 1;
      octet = 0;
      digits = 0;
      continue;
    }
    const digit = code - digitZero;
    const isZeroLed = digits > 0 && octet === 0 && !leadingZeros;
    octet = octet * 10 + digit;
    digits += 1;
    if (digit < 0 || digit > 9 || octet > 255 || isZeroLed) return undefined;
  }
  return octets === 4 && digits > 0 ? value * 256 + octet : undefined;
}

function sloppyIPv4(text: string): Address | undefined {
  const value = parseIPv4(text, sloppyForm);
  return value === undefined ? undefined : { family: 'IPv4', value: BigInt(value) };
}

function parseIPv6(text: string, form: Form): Address | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? '', form, halves.length === 1);
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? '', form, true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  let value = 0n;
  for (const group of head) value = (value << 16n) | BigInt(group);
  value <<= BigInt(16 * missing);
  for (const group of tail) value = (value << 16n) | BigInt(group);
  return value >> 32n === mappedPrefix
    ? { family: 'IPv6', value, mapped: true }
    : { family: 'IPv6', value };
}

/** Groups of 16 bits; the last may be dotted IPv4 at the end of the text. */
function parseGroups(text: string, form: Form, mayEndInIPv4: boolean): number[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const groups: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.includes('.')) {
      const dotted = parseIPv4(part, form);
      if (dotted === undefined || !mayEndInIPv4 || index !== parts.length - 1) return undefined;
      groups.push(Math.floor(dotted / 0x10000), dotted % 0x10000);
    } else if (form.group.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

function formatIPv4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

function formatIPv6(value: bigint): string {
  const groups: number[] = [];
  for (let shift = 112n; shift >= 0n; shift -= 16n) groups.push(Number((value >> shift) & 0xffffn));
  const { start, length } = findZeroRun(groups);
  const hex = (part: readonly number[]): string => part.map((g) => g.toString(16)).join(':');
  if (length < 2) return hex(groups);
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

function findZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let length = 0;
  for (const [index, group] of groups.entries()) {
    length = group === 0 ? length + 1 : 0;
    if (length > best.length) best = { start: index - length + 1, length };
  }
  return best;
}
