// Limits the number of values in a body or object. A few megabytes can be a million empty lists, and processing them
// would block all other requests; real objects have some hundred, the largest some ten thousand.
import { endOfString } from './nesting.ts';

export type ValueLimits = {
  /** In total. */
  readonly values: number;
  /** In one list or object. */
  readonly members: number;
};

export const maxValues = 50_000;

/**
 * Twice the addresses of the largest real Endpoints. Most steps of a write process one list or map without a pause,
 * some 20 ms for this many.
 */
export const maxMembers = 10_000;

/** The field set of a map has one more member than the map, for the map itself. */
export const valueLimits: ValueLimits = { values: maxValues, members: maxMembers + 1 };

/** What exceeds its limit. */
export type Excess = keyof ValueLimits;

const [quote, comma] = [0x22, 0x2c];
const isOpening = (code: number): boolean => code === 0x5b || code === 0x7b;
const isClosing = (code: number): boolean => code === 0x5d || code === 0x7d;

type Count = {
  values: number;
  /** Members of the open list or object. */
  members: number;
  /** Counts of the enclosing ones. */
  readonly outer: number[];
};

/** For JSON that is not parsed yet: each value but the first of a list or object follows a comma. */
export function findExcess(text: string, limits = valueLimits): Excess | undefined {
  // Each value takes at least one character and one separator.
  if (text.length <= 2 * Math.min(limits.values, limits.members)) return undefined;
  const count: Count = { values: 0, members: 0, outer: [] };
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (isClosing(code)) count.members = count.outer.pop() ?? 0;
    else if (code === comma || isOpening(code)) {
      const excess = addValue(count, isOpening(code), limits);
      if (excess !== undefined) return excess;
    }
  }
  return undefined;
}

function addValue(count: Count, opens: boolean, limits: ValueLimits): Excess | undefined {
  if (opens) {
    count.outer.push(count.members);
    count.members = 0;
  }
  count.members += 1;
  count.values += 1;
  if (count.members > limits.members) return 'members';
  return count.values > limits.values ? 'values' : undefined;
}

/** For values, counted as their JSON would be; without recursion. */
export function findExcessIn(value: unknown, limits = valueLimits): Excess | undefined {
  const open: object[] = [];
  if (isContainer(value)) open.push(value);
  let values = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const members = openMembers(next, open, limits.members);
    if (members > limits.members) return 'members';
    values += Math.max(members, 1);
    if (values > limits.values) return 'values';
  }
  return undefined;
}

/** Counts the members; their content is counted later. */
function openMembers(container: object, open: object[], max: number): number {
  if (Array.isArray(container) && container.length > max) return container.length;
  let members = 0;
  for (const key in container) {
    const member = (container as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    members += 1;
    if (isContainer(member)) open.push(member);
  }
  return members;
}

const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null;
