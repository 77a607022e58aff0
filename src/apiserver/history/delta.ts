// One version of an object in terms of the version after it: most changes touch a few bytes of many. A delta is a list of steps, each a
// run of the other version's bytes followed by bytes of its own.

/** Bytes that are searched for where the versions differ. Shorter ones match by accident. */
const anchorBytes = 16;
/** How far apart the same bytes may be in the two versions. */
const searchBytes = 2048;
/** Searches in one delta: versions that have little in common are stored whole. */
const maxSearches = 64;

/** Bytes from which, with the base, the target can be read. Valid until the next call. */
export function encodeDelta(target: Buffer, base: Buffer): Buffer {
  reserve(target.length + maxSearches * maxStepBytes);
  const shorter = Math.min(target.length, base.length);
  const start = commonLength(target, 0, base, 0, shorter);
  const end = commonEnd(target, base, shorter - start);
  const targetEnd = target.length - end;
  const baseEnd = base.length - end;
  let written = 0;
  let literalStart = start;
  let [from, length, baseAt] = [0, start, start];
  let searches = 0;
  for (let at = start; at + anchorBytes <= targetEnd && searches < maxSearches; ) {
    searches += 1;
    let found = findAnchor(target, at, base, baseAt + at - literalStart, baseAt, baseEnd);
    if (found < 0) {
      at += anchorBytes;
      continue;
    }
    while (at > literalStart && found > baseAt && target[at - 1] === base[found - 1]) {
      at -= 1;
      found -= 1;
    }
    written = writeStep(written, from, length, target, literalStart, at);
    from = found;
    length = commonLength(target, at, base, found, Math.min(targetEnd - at, baseEnd - found));
    at += length;
    literalStart = at;
    baseAt = from + length;
  }
  written = writeStep(written, from, length, target, literalStart, targetEnd);
  if (end > 0) written = writeStep(written, baseEnd, end, target, targetEnd, targetEnd);
  return scratch.subarray(0, written);
}

/** Reused: a delta is copied into a frame at once. */
let scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** Three numbers. */
const maxStepBytes = 24;

function reserve(bytes: number): void {
  if (scratch.length < bytes) scratch = Buffer.allocUnsafeSlow(2 * bytes);
}

/** Throws a RangeError where the delta does not fit the base. */
export function applyDelta(delta: Buffer, base: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = delta[at++];
      if (byte === undefined) throw new RangeError('a delta ends early');
      value += (byte & 0x7f) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < delta.length) {
    const from = next();
    const end = from + next();
    const literal = next();
    if (end > base.length || at + literal > delta.length)
      throw new RangeError('a delta does not fit its base');
    pieces.push(base.subarray(from, end), delta.subarray(at, at + literal));
    at += literal;
  }
  return Buffer.concat(pieces);
}

/** Where the bytes at `at` are in the base: first where they would be if as many bytes had been replaced, then anywhere near. */
function findAnchor(
  target: Buffer,
  at: number,
  base: Buffer,
  expected: number,
  start: number,
  end: number,
): number {
  if (expected + anchorBytes <= end && isEqual(target, at, base, expected)) return expected;
  const within = base.subarray(start, Math.min(end, start + searchBytes));
  const found = within.indexOf(target.subarray(at, at + anchorBytes));
  return found < 0 ? -1 : start + found;
}

function isEqual(a: Buffer, aAt: number, b: Buffer, bAt: number): boolean {
  for (let n = 0; n < anchorBytes; n += 1) if (a[aAt + n] !== b[bAt + n]) return false;
  return true;
}

/** Bytes of the base, then bytes of the target. All numbers are unsigned LEB128. */
function writeStep(
  start: number,
  from: number,
  length: number,
  target: Buffer,
  literalStart: number,
  literalEnd: number,
): number {
  let at = writeNumber(scratch, start, from);
  at = writeNumber(scratch, at, length);
  at = writeNumber(scratch, at, literalEnd - literalStart);
  return at + target.copy(scratch, at, literalStart, literalEnd);
}

/** Compared natively in chunks, and byte by byte only in the one that differs. */
const chunkBytes = 256;

function commonLength(a: Buffer, aAt: number, b: Buffer, bAt: number, max: number): number {
  let length = 0;
  while (length + chunkBytes <= max) {
    const [aFrom, bFrom] = [aAt + length, bAt + length];
    if (a.compare(b, bFrom, bFrom + chunkBytes, aFrom, aFrom + chunkBytes) !== 0) break;
    length += chunkBytes;
  }
  while (length < max && a[aAt + length] === b[bAt + length]) length += 1;
  return length;
}

function commonEnd(a: Buffer, b: Buffer, max: number): number {
  let length = 0;
  while (length + chunkBytes <= max) {
    const [aEnd, bEnd] = [a.length - length, b.length - length];
    if (a.compare(b, bEnd - chunkBytes, bEnd, aEnd - chunkBytes, aEnd) !== 0) break;
    length += chunkBytes;
  }
  while (length < max && a[a.length - 1 - length] === b[b.length - 1 - length]) length += 1;
  return length;
}

function writeNumber(bytes: Buffer, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest >= 128) {
    bytes[at++] = (rest % 128) | 128;
    rest = Math.floor(rest / 128);
  }
  bytes[at++] = rest;
  return at;
}
