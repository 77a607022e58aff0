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

/** Names inside of RDATA, by type: bytes before the first name, number of names, bytes after them. */
export const namesInside: Readonly<
  Record<number, { readonly before: number; readonly names: number; readonly after: number }>
> = {
  [types.NS]: { before: 0, names: 1, after: 0 },
  [types.CNAME]: { before: 0, names: 1, after: 0 },
  [types.PTR]: { before: 0, names: 1, after: 0 },
  [types.MX]: { before: 2, names: 1, after: 0 },
  [types.SRV]: { before: 6, names: 1, after: 0 },
  [types.SOA]: { before: 0, names: 2, after: 20 },
};

const sizes: Readonly<Record<number, number>> = { [types.A]: 4, [types.AAAA]: 16 };

/** Expects a record that ends within the packet, as found by `skipRecord`. */
export function isSoundRecord(bytes: Buffer, at: number, end: number, known: KnownNames): boolean {
  if (nameLength(bytes, at, known) < 0) return false;
  const fixed = skipName(bytes, at, end);
  const type = bytes.readUInt16BE(fixed);
  const start = fixed + 10;
  const size = sizes[type];
  if (size !== undefined) return end - start === size;
  const inside = namesInside[type];
  if (inside === undefined) return true;
  let next = start + inside.before;
  for (let index = 0; index < inside.names; index += 1) {
    if (next >= end || nameLength(bytes, next, known) < 0) return false;
    next = skipName(bytes, next, end);
    if (next < 0) return false;
  }
  return next + inside.after === end;
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
