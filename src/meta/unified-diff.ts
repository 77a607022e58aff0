// The unified diff of two texts. Kubernetes uses Python's difflib algorithm (longest matching block first, frequent
// lines are no matches in long texts), which is needed for the same output: apimachinery/pkg/util/diff.

type Lines = readonly string[];
type Block = { readonly a: number; readonly b: number; readonly size: number };
type Change = {
  readonly isEqual: boolean;
  readonly a1: number;
  readonly a2: number;
  readonly b1: number;
  readonly b2: number;
};
type Range = readonly [a1: number, a2: number, b1: number, b2: number];

const contextLines = 3;
/** In texts of at least this many lines, a line that makes up more than 1 % starts no match. */
const popularFrom = 200;
/** Limits the comparison, which is quadratic for repetitive texts. Real pods need thousands of steps. */
const maxSteps = 40_000;
/** Longer texts are not compared: only common beginning and end are removed. */
const maxLines = 10_000;
/** Limits the message where the comparison was given up. */
const maxShownLines = 1_000;

/** Hunks without file names; empty when nothing differs. */
export function unifiedDiff(before: string, after: string): string {
  const a = before.split('\n');
  const b = after.split('\n');
  return hunks(changesOf(a, b))
    .map((hunk) => hunkText(a, b, hunk))
    .join('');
}

function changesOf(a: Lines, b: Lines): readonly Change[] {
  const isComparable = a.length <= maxLines && b.length <= maxLines;
  const blocks = (isComparable ? matchingBlocks(a, b) : undefined) ?? commonEnds(a, b);
  const changes: Change[] = [];
  let [i, j] = [0, 0];
  for (const block of [...blocks, { a: a.length, b: b.length, size: 0 }]) {
    if (i < block.a || j < block.b) {
      changes.push({ isEqual: false, a1: i, a2: block.a, b1: j, b2: block.b });
    }
    [i, j] = [block.a + block.size, block.b + block.size];
    if (block.size > 0) changes.push({ isEqual: true, a1: block.a, a2: i, b1: block.b, b2: j });
  }
  return changes;
}

/** Matching blocks in order; undefined when the step limit is exceeded. */
function matchingBlocks(a: Lines, b: Lines): readonly Block[] | undefined {
  const positions = positionsByLine(b);
  const budget = { steps: maxSteps };
  const found: Block[] = [];
  const open: Range[] = [[0, a.length, 0, b.length]];
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    const block = findLongestMatch(a, b, range, positions, budget);
    if (budget.steps <= 0) return undefined;
    if (block.size === 0) continue;
    const [a1, a2, b1, b2] = range;
    const [endA, endB] = [block.a + block.size, block.b + block.size];
    found.push(block);
    if (a1 < block.a && b1 < block.b) open.push([a1, block.a, b1, block.b]);
    if (endA < a2 && endB < b2) open.push([endA, a2, endB, b2]);
  }
  return joinAdjacent(found.sort((x, y) => x.a - y.a || x.b - y.b));
}

function positionsByLine(b: Lines): ReadonlyMap<string, readonly number[]> {
  const positions = new Map<string, number[]>();
  for (const [index, line] of b.entries()) {
    const known = positions.get(line);
    if (known === undefined) positions.set(line, [index]);
    else known.push(index);
  }
  if (b.length >= popularFrom) {
    const max = Math.floor(b.length / 100) + 1;
    for (const [line, occurrences] of positions)
      if (occurrences.length > max) positions.delete(line);
  }
  return positions;
}

/** The longest matching block in the range; ties go to the first in `a`, then in `b`. */
function findLongestMatch(
  a: Lines,
  b: Lines,
  range: Range,
  positions: ReadonlyMap<string, readonly number[]>,
  budget: { steps: number },
): Block {
  const [a1, a2, b1, b2] = range;
  let best: Block = { a: a1, b: b1, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = a1; i < a2; i++) {
    const next = new Map<number, number>();
    const occurrences = positions.get(a[i] ?? '') ?? [];
    budget.steps -= occurrences.length + 1;
    if (budget.steps <= 0) return best;
    for (const j of occurrences) {
      if (j < b1 || j >= b2) continue;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    lengths = next;
  }
  return extended(a, b, range, best);
}

/** Frequent lines start no match but extend one. */
function extended(a: Lines, b: Lines, [a1, a2, b1, b2]: Range, block: Block): Block {
  let { a: i, b: j, size } = block;
  while (i > a1 && j > b1 && a[i - 1] === b[j - 1]) [i, j, size] = [i - 1, j - 1, size + 1];
  while (i + size < a2 && j + size < b2 && a[i + size] === b[j + size]) size++;
  return { a: i, b: j, size };
}

function joinAdjacent(blocks: readonly Block[]): readonly Block[] {
  const joined: Block[] = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    if (last !== undefined && last.a + last.size === block.a && last.b + last.size === block.b) {
      joined[joined.length - 1] = { ...last, size: last.size + block.size };
    } else joined.push(block);
  }
  return joined;
}

/** The fallback for repetitive texts: only common beginning and end match. */
function commonEnds(a: Lines, b: Lines): readonly Block[] {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return [
    { a: 0, b: 0, size: head },
    { a: a.length - tail, b: b.length - tail, size: tail },
  ].filter(({ size }) => size > 0);
}

/** Groups changes with their context into hunks. */
function hunks(changes: readonly Change[]): readonly (readonly Change[])[] {
  const groups: Change[][] = [];
  let group: Change[] = [];
  for (const [index, change] of changes.entries()) {
    if (!change.isEqual) {
      group.push(change);
      continue;
    }
    const { a1, a2, b1, b2 } = change;
    const isFirst = index === 0;
    const isLast = index === changes.length - 1;
    const lead = {
      ...change,
      a1: Math.max(a1, a2 - contextLines),
      b1: Math.max(b1, b2 - contextLines),
    };
    const trail = {
      ...change,
      a2: Math.min(a2, a1 + contextLines),
      b2: Math.min(b2, b1 + contextLines),
    };
    if (isFirst) group.push(lead);
    else if (isLast) group.push(trail);
    else if (a2 - a1 <= 2 * contextLines) group.push(change);
    else {
      groups.push([...group, trail]);
      group = [lead];
    }
  }
  return [...groups, group].filter((one) => one.some(({ isEqual }) => !isEqual));
}

function hunkText(a: Lines, b: Lines, hunk: readonly Change[]): string {
  const [first, last] = [hunk[0], hunk.at(-1)];
  if (first === undefined || last === undefined) return '';
  const header = `@@ -${rangeText(first.a1, last.a2)} +${rangeText(first.b1, last.b2)} @@\n`;
  const lines = hunk.flatMap(({ isEqual, a1, a2, b1, b2 }) =>
    isEqual ? shown(a, a1, a2, ' ') : [...shown(a, a1, a2, '-'), ...shown(b, b1, b2, '+')],
  );
  return header + lines.join('');
}

function shown(lines: Lines, from: number, to: number, mark: string): readonly string[] {
  const end = Math.min(to, from + maxShownLines);
  const text = lines.slice(from, end).map((line) => `${mark}${line}\n`);
  return end < to ? [...text, `${mark}...\n`] : text;
}

function rangeText(from: number, to: number): string {
  const length = to - from;
  if (length === 1) return `${from + 1}`;
  return length === 0 ? `${from},0` : `${from + 1},${length}`;
}
