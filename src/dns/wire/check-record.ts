// Validates records from upstream before they are passed on: compression pointers must lead backwards and end, and data must have the length
// of its type. Each pointer target is checked once, so that a packet full of pointers costs no more than its size.
import { maxNameLength } from './names.ts';
import { headerSize, types } from './record-types.ts';
import { skipName } from './skip-record.ts';

/** The length of the name, -1 if invalid, and the number of pointers it follows. */
type KnownName = { readonly length: number; readonly pointers: number };
/** By offset in the packet. */
export type KnownNames = Map<number, KnownName>;

/** Sensible encoders need one or two. */
const maxPointers = 16;

/**
 * A part of RDATA: a number of bytes, a name, a name that RFCs forbid to compress, a length-prefixed string, any number of these up to the end,
 * or whatever is left.
 */
type DataPart = number | 'name' | 'plainName' | 'string' | 'strings' | 'rest';

/** RDATA by type, as far as resolvers look into it. Other types are opaque to everyone (RFC 3597). Numbers without a name here are obsolete types. */
const layouts: Readonly<Record<number, readonly DataPart[]>> = {
  [types.A]: [4],
  [types.NS]: ['name'],
  3: ['name'],
  4: ['name'],
  [types.CNAME]: ['name'],
  [types.SOA]: ['name', 'name', 20],
  7: ['name'],
  8: ['name'],
  9: ['name'],
  [types.PTR]: ['name'],
  [types.HINFO]: ['string', 'string'],
  // MINFO
  14: ['name', 'name'],
  [types.MX]: [2, 'name'],
  [types.TXT]: ['strings'],
  // RP, AFSDB, RT, SIG, PX: older than the rule of RFC 3597, so compression occurs.
  17: ['name', 'name'],
  18: [2, 'name'],
  21: [2, 'name'],
  24: [18, 'name', 'rest'],
  26: [2, 'name', 'name'],
  [types.AAAA]: [16],
  30: ['name', 'rest'],
  [types.SRV]: [6, 'name'],
  [types.NAPTR]: [4, 'string', 'string', 'string', 'name'],
  // KX, DNAME
  36: [2, 'plainName'],
  39: ['plainName'],
  [types.RRSIG]: [18, 'plainName', 'rest'],
  [types.NSEC]: ['plainName', 'rest'],
  // TALINK
  58: ['plainName', 'plainName'],
  [types.SVCB]: [2, 'plainName', 'rest'],
  [types.HTTPS]: [2, 'plainName', 'rest'],
  // SPF, LP
  99: ['strings'],
  107: [2, 'plainName'],
};

/** A part of the data of a sound record. */
export type DataSpan = { readonly start: number; readonly end: number; readonly isName: boolean };

/** Expects a record that ends within the packet, as found by `skipRecord`. */
export function isSoundRecord(bytes: Buffer, at: number, end: number, known: KnownNames): boolean {
  if (nameLength(bytes, at, known) < 0) return false;
  const fixed = skipName(bytes, at, end);
  const type = bytes.readUInt16BE(fixed);
  const start = fixed + 10;
  const spans = dataSpans(bytes, type, start, end);
  return spans?.every((span) => !span.isName || nameLength(bytes, span.start, known) >= 0) ?? false;
}

/** Divides RDATA into names and other bytes; undefined when it does not have the form of its type. */
export function dataSpans(
  bytes: Uint8Array,
  type: number,
  start: number,
  end: number,
): readonly DataSpan[] | undefined {
  const spans: DataSpan[] = [];
  let at = start;
  for (const part of layouts[type] ?? ['rest']) {
    const next = skipPart(bytes, part, at, end);
    if (next < 0 || next > end) return undefined;
    spans.push({ start: at, end: next, isName: part === 'name' || part === 'plainName' });
    at = next;
  }
  return at === end ? spans : undefined;
}

/** The offset behind a part, or -1; it may be beyond the end. */
function skipPart(bytes: Uint8Array, part: DataPart, at: number, end: number): number {
  switch (part) {
    case 'name':
      return skipName(bytes, at, end);
    case 'plainName': {
      const next = skipLabels(bytes, at);
      return next >= 0 && bytes[next] === 0 ? next + 1 : -1;
    }
    case 'string':
      return at < end ? at + 1 + (bytes[at] ?? 0) : -1;
    case 'strings': {
      let next = at;
      while (next < end) next += 1 + (bytes[next] ?? 0);
      return next;
    }
    case 'rest':
      return end;
    default:
      return at + part;
  }
}

/** The length of a name with its pointers followed; -1 when it is invalid or beyond the limits. */
function nameLength(bytes: Uint8Array, start: number, known: KnownNames): number {
  return findName(bytes, start, known, 0).length;
}

const noName: KnownName = { length: -1, pointers: 0 };

/** A chain that is too long invalidates the whole packet, so its last names may be cached as invalid. */
function findName(bytes: Uint8Array, start: number, known: KnownNames, depth: number): KnownName {
  const before = known.get(start);
  if (before !== undefined) return before;
  const pointerAt = skipLabels(bytes, start);
  const length = pointerAt - start;
  const found =
    pointerAt < 0 || depth > maxPointers
      ? noName
      : bytes[pointerAt] === 0
        ? { length: length + 1, pointers: 0 }
        : withRest(length, findRest(bytes, start, pointerAt, known, depth + 1));
  known.set(start, found);
  return found;
}

/** The offset of the zero or pointer that ends the labels; -1 beyond the packet or the maximum length of a name. */
function skipLabels(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let label = bytes[at]; label !== 0; label = bytes[at]) {
    if (label === undefined || at - start >= maxNameLength) return -1;
    if (label >= 0xc0) return at;
    if (label > 63) return -1;
    at += 1 + label;
  }
  return at;
}

function findRest(
  bytes: Uint8Array,
  start: number,
  pointerAt: number,
  known: KnownNames,
  depth: number,
): KnownName {
  const target = (((bytes[pointerAt] ?? 0) & 0x3f) << 8) | (bytes[pointerAt + 1] ?? 0);
  // Pointers must lead backwards, so that none can loop.
  return target < headerSize || target >= start ? noName : findName(bytes, target, known, depth);
}

function withRest(length: number, rest: KnownName): KnownName {
  const pointers = rest.pointers + 1;
  const isName =
    rest.length >= 0 && length + rest.length <= maxNameLength && pointers <= maxPointers;
  return isName ? { length: length + rest.length, pointers } : noName;
}
