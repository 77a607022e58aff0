// One version of an object in terms of the version after it: most changes touch a few bytes of many. A delta is a list of steps, each a
// run of the other version's bytes followed by bytes of its own.

/** A piece of the base, then literal bytes. All numbers are unsigned LEB128. */
type Step = { readonly from: number; readonly length: number; readonly literal: Uint8Array };

/** Bytes that are searched for where the versions differ. Shorter ones match by accident. */
const anchorBytes = 16;
/** How far apart the same bytes may be in the two versions. */
const searchBytes = 2048;
/** Searches in one delta: versions that have little in common are stored whole. */
const maxSearches = 64;

/** Bytes from which, with the base, the target can be read. */
export function encodeDelta(target: Buffer, base: Buffer): Buffer {
  const steps = stepsOf(target, base);
  let length = 0;
  for (const { from, length: run, literal } of steps)
    length += sizeOf(from) + sizeOf(run) + sizeOf(literal.length) + literal.length;
  const delta = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const { from, length: run, literal } of steps) {
    at = writeNumber(delta, writeNumber(delta, at, from), run);
    at = writeNumber(delta, at, literal.length);
    delta.set(literal, at);
    at += literal.length;
  }
  return delta;
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

function stepsOf(target: Buffer, base: Buffer): readonly Step[] {
  const shorter = Math.min(target.length, base.length);
  const start = commonLength(target, 0, base, 0, shorter);
  const end = commonEnd(target, base, shorter - start);
  const targetEnd = target.length - end;
  const steps: Step[] = [];
  let run = { from: 0, length: start };
  let literalStart = start;
  let baseAt = start;
  const baseEnd = base.length - end;
  let searches = 0;
  for (let at = start; at + anchorBytes <= targetEnd && searches < maxSearches; ) {
    searches += 1;
    const found = findAnchor(
      target,
      at,
      base.subarray(baseAt, Math.min(baseEnd, baseAt + searchBytes)),
    );
    if (found < 0) {
      at += anchorBytes;
      continue;
    }
    let from = baseAt + found;
    let begin = at;
    while (begin > literalStart && from > baseAt && target[begin - 1] === base[from - 1]) {
      begin -= 1;
      from -= 1;
    }
    const length = commonLength(
      target,
      begin,
      base,
      from,
      Math.min(targetEnd - begin, baseEnd - from),
    );
    steps.push({ ...run, literal: target.subarray(literalStart, begin) });
    run = { from, length };
    at = begin + length;
    literalStart = at;
    baseAt = from + length;
  }
  steps.push({ ...run, literal: target.subarray(literalStart, targetEnd) });
  if (end > 0) steps.push({ from: baseEnd, length: end, literal: nothing });
  return steps;
}

const nothing = new Uint8Array(0);

function findAnchor(target: Buffer, at: number, within: Buffer): number {
  return within.indexOf(target.subarray(at, at + anchorBytes));
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

function sizeOf(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size += 1;
  return size;
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
