// Whether a record that somebody else wrote can be read to its end by whoever gets it: names whose pointers lead backwards and end,
// data of the length that its type has. Each place that pointers lead to is looked at once, so that a packet of pointers costs
// no more than its size.
import { maxNameLength } from './names.ts';
import { headerSize, types } from './record-types.ts';
import { skipName } from './skip-record.ts';

/** How long the name is, -1 when it is none, and how many pointers lead to its end. */
type KnownName = { readonly length: number; readonly pointers: number };
/** By where they stand in the packet. */
export type KnownNames = Map<number, KnownName>;

/** Names that are written with sense need one or two. */
const maxPointers = 16;

/** Names inside of data, by type: how many bytes stand before the first, how many names there are, how many bytes follow. */
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

/** For a record that ends within the packet, as `skipRecord` says. */
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

/** With its pointers followed; -1 when it has no end, or none within the limits. */
function nameLength(bytes: Uint8Array, start: number, known: KnownNames): number {
  return findName(bytes, start, known, 0).length;
}

const noName: KnownName = { length: -1, pointers: 0 };

/** A chain that is too long makes the whole packet unsound, so it does not matter that its last names count as none. */
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

/** Where the labels end, at a zero or a pointer; -1 when they run out of the packet or of the length of a name. */
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
  // Backwards alone: a name that leads to itself has no end.
  return target < headerSize || target >= start ? noName : findName(bytes, target, known, depth);
}

function withRest(length: number, rest: KnownName): KnownName {
  const pointers = rest.pointers + 1;
  const isName =
    rest.length >= 0 && length + rest.length <= maxNameLength && pointers <= maxPointers;
  return isName ? { length: length + rest.length, pointers } : noName;
}
