// How many values one body or object may hold. A few megabytes can be a million empty lists, and everything that reads them
// holds up everybody else meanwhile; objects that people write have some hundreds, the largest some ten thousand.
import { endOfString } from './nesting.ts';

export type ValueLimits = {
  /** In all. */
  readonly values: number;
  /** Of one list or object. */
  readonly members: number;
};

export const maxValues = 50_000;

/**
 * Twice the addresses of the largest Endpoints that anybody makes. Most steps of a write go through the members of one list
 * or map in one go, and take some 20 ms for so many.
 */
export const maxMembers = 10_000;

/** The set of fields of a map has one member more than the map: the map itself. */
export const valueLimits: ValueLimits = { values: maxValues, members: maxMembers + 1 };

/** What there is too much of. */
export type Excess = keyof ValueLimits;

const [quote, comma] = [0x22, 0x2c];
const isOpening = (code: number): boolean => code === 0x5b || code === 0x7b;
const isClosing = (code: number): boolean => code === 0x5d || code === 0x7d;

type Count = {
  values: number;
  /** Of the list or object that is open. */
  members: number;
  /** Of those around it. */
  readonly outer: number[];
};

/** Of JSON that is not parsed yet: each value but the first of a list or object follows a comma. */
export function findExcess(text: string, limits = valueLimits): Excess | undefined {
  // No value takes less than a character and what parts it from the next.
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

/** Of a value, counted as its JSON would be; without a call stack, whatever its depth. */
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

/** Says how many there are; what they hold is to be counted next. */
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
