// Sets of completion indexes in their text form, `1,3-5,7`: ascending intervals. Two neighbours are written `1,2`, as upstream does.

import { fitsInteger } from '../../schema/fits-integer.ts';
import { goQuote } from '../../schema/go-quote.ts';

/** Both ends included. */
export type IndexInterval = { readonly first: number; readonly last: number };

export type ParsedIndexes =
  | { readonly intervals: readonly IndexInterval[]; readonly total: number }
  | { readonly error: string };

/** Indexes from 0 to `completions - 1`, in ascending order. */
export function parseIndexes(text: string, completions: number): ParsedIndexes {
  const intervals: IndexInterval[] = [];
  let total = 0;
  let previous = -1;
  for (let at = 0; at < text.length || (at === text.length && at > 0); ) {
    const end = endOfPart(text, at);
    const interval = plainInterval(text, at, end);
    const isOrdered = interval !== undefined && previous < interval.first;
    if (interval === undefined || !isOrdered || interval.last >= completions)
      return parseByParts(text, completions);
    previous = interval.last;
    intervals.push(interval);
    total += interval.last - interval.first + 1;
    at = end + 1;
  }
  return { intervals, total };
}

const hyphen = 45;
const zero = 48;
/** So many digits are below every limit of an integer. */
const maxPlainDigits = 9;

function endOfPart(text: string, start: number): number {
  const end = text.indexOf(',', start);
  return end === -1 ? text.length : end;
}

/** `7` or `3-5`, by its digits: there may be as many as an object has room for. Undefined: anything else. */
function plainInterval(text: string, start: number, end: number): IndexInterval | undefined {
  let first = -1;
  let value = 0;
  let digits = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === hyphen && first === -1 && digits > 0) {
      first = value;
      value = 0;
      digits = 0;
      continue;
    }
    const digit = code - zero;
    digits += 1;
    if (digit < 0 || digit > 9 || digits > maxPlainDigits) return undefined;
    value = value * 10 + digit;
  }
  if (digits === 0 || (first !== -1 && first >= value)) return undefined;
  return { first: first === -1 ? value : first, last: value };
}

/** Slower, with the words for what is wrong. */
function parseByParts(text: string, completions: number): ParsedIndexes {
  const intervals: IndexInterval[] = [];
  let total = 0;
  let previous: number | undefined;
  for (const part of text.split(',')) {
    const ends = part.split('-', 3);
    if (ends.length > 2) return { error: tooManyParts(part) };
    const [from = '', to] = ends;
    const first = parseIndex(from, completions, previous);
    if (typeof first === 'string') return { error: first };
    const last = to === undefined ? first : parseIndex(to, completions, first);
    if (typeof last === 'string') return { error: last };
    previous = last;
    intervals.push({ first, last });
    total += last - first + 1;
  }
  return { intervals, total };
}

const tooManyParts = (part: string): string =>
  `the fragment ${goQuote(part)} violates the requirement that an index interval can have at most two parts separated by '-'`;

/** Longer numbers take big integers, which are slow. */
const maxSafeDigits = 15;

/** The index, or what is wrong with it. */
function parseIndex(
  text: string,
  completions: number,
  previous: number | undefined,
): number | string {
  const isInteger =
    /^[+-]?[0-9]{1,19}$/.test(text) && (text.length <= maxSafeDigits || fitsInteger(text, 64));
  if (!isInteger) return `cannot convert string to integer for index: ${goQuote(text)}`;
  const index = Number(text);
  if (index >= completions) return `too large index: ${goQuote(text)}`;
  return previous !== undefined && previous >= index
    ? `non-increasing order, previous: ${previous}, current: ${index}`
    : index;
}

type ReadText = { readonly completions: number; readonly intervals: readonly IndexInterval[] };

/** Of the texts that were read last: most syncs of a job read what the one before has read. */
const recent = new Map<string, ReadText>();
const maxRecent = 16;

/** What a controller reads of a status: indexes beyond the completions belong to a job that was scaled down. */
export function readIndexes(text: string, completions: number): readonly IndexInterval[] {
  const known = recent.get(text);
  if (known?.completions === completions) return known.intervals;
  const intervals = readText(text, completions);
  recent.delete(text);
  const [oldest] = recent.keys();
  if (oldest !== undefined && recent.size >= maxRecent) recent.delete(oldest);
  recent.set(text, { completions, intervals });
  return intervals;
}

function readText(text: string, completions: number): readonly IndexInterval[] {
  const intervals: { first: number; last: number }[] = [];
  for (const part of text === '' ? [] : text.split(',')) {
    const hyphen = part.indexOf('-');
    const first = Number.parseInt(hyphen === -1 ? part : part.slice(0, hyphen), 10);
    const end = hyphen === -1 ? first : Number.parseInt(part.slice(hyphen + 1), 10);
    const last = Math.min(end, completions - 1);
    if (first <= last) append(intervals, first, last);
  }
  return intervals;
}

/** The intervals with more indexes, in any order; merges neighbours. Linear in the intervals: there may be tens of thousands. */
export function withIndexes(
  intervals: readonly IndexInterval[],
  added: readonly number[],
): readonly IndexInterval[] {
  if (added.length === 0) return intervals;
  const sorted = Int32Array.from(added).sort();
  const merged: { first: number; last: number }[] = [];
  let next = 0;
  for (const { first, last } of intervals) {
    for (; next < sorted.length && (sorted[next] ?? 0) < first; next += 1)
      append(merged, sorted[next] ?? 0, sorted[next] ?? 0);
    append(merged, first, last);
  }
  for (; next < sorted.length; next += 1) append(merged, sorted[next] ?? 0, sorted[next] ?? 0);
  return merged;
}

function append(merged: { first: number; last: number }[], first: number, last: number): void {
  const before = merged.at(-1);
  if (before !== undefined && before.last + 1 >= first) before.last = Math.max(before.last, last);
  else merged.push({ first, last });
}

export function formatIndexes(intervals: readonly IndexInterval[]): string {
  return intervals.map(formatInterval).join(',');
}

function formatInterval({ first, last }: IndexInterval): string {
  if (first === last) return String(first);
  return last === first + 1 ? `${first},${last}` : `${first}-${last}`;
}

export function countIndexes(intervals: readonly IndexInterval[]): number {
  return intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0);
}

/** By bisection: a job may have many intervals. */
export function hasIndex(intervals: readonly IndexInterval[], index: number): boolean {
  let low = 0;
  let high = intervals.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const interval = intervals[middle];
    if (interval === undefined || interval.first > index) high = middle;
    else if (interval.last < index) low = middle + 1;
    else return true;
  }
  return false;
}

/** An index that is in both, if any. */
export function commonIndex(
  a: readonly IndexInterval[],
  b: readonly IndexInterval[],
): number | undefined {
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const x = a[i];
    const y = b[j];
    if (x === undefined || y === undefined) return undefined;
    if (x.last < y.first) i += 1;
    else if (y.last < x.first) j += 1;
    else return Math.max(x.first, y.first);
  }
  return undefined;
}
