// Schedules of cron jobs: five fields, or a descriptor such as `@hourly` or `@every 1h30m`. Upstream uses
// github.com/robfig/cron/v3, ParseStandard(), whose messages clients see.
import { goQuote } from '../../schema/go-quote.ts';
import { parseDuration } from './parse-duration.ts';

/** The values of a field that match, and whether it is `*`: then the other field of days decides alone. */
export type FieldValues = { readonly values: ReadonlySet<number>; readonly isAny: boolean };

export type FieldSchedule = {
  readonly minutes: FieldValues;
  readonly hours: FieldValues;
  readonly daysOfMonth: FieldValues;
  readonly months: FieldValues;
  /** Sunday is 0. */
  readonly daysOfWeek: FieldValues;
};

export type Schedule = FieldSchedule | { readonly everyMs: number };

/** A list of all minutes has 169 characters; upstream has no limit. */
export const maxScheduleLength = 4096;

type Bounds = { readonly min: number; readonly max: number; readonly names?: readonly string[] };

const minutes: Bounds = { min: 0, max: 59 };
const hours: Bounds = { min: 0, max: 23 };
const daysOfMonth: Bounds = { min: 1, max: 31 };
const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const months: Bounds = { min: 1, max: 12, names: monthNames };
const daysOfWeek: Bounds = { min: 0, max: 6, names: 'sun mon tue wed thu fri sat'.split(' ') };

/** As fields. */
const descriptors: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);

const fieldCount = 5;
const minEveryMs = 1000;

/** Linear in the length of the text, which the caller bounds. */
export function parseSchedule(text: string): Schedule | { readonly error: string } {
  try {
    return text.startsWith('@') ? parseDescriptor(text) : parseFields(text);
  } catch (problem) {
    if (problem instanceof ScheduleProblem) return { error: problem.message };
    throw problem;
  }
}

class ScheduleProblem extends Error {
  override readonly name = 'ScheduleProblem';
}

function parseDescriptor(text: string): Schedule {
  const fields = descriptors.get(text);
  if (fields !== undefined) return parseFields(fields);
  const every = '@every ';
  if (!text.startsWith(every)) throw new ScheduleProblem(`unrecognized descriptor: ${text}`);
  const duration = parseDuration(text.slice(every.length));
  if ('error' in duration)
    throw new ScheduleProblem(`failed to parse duration ${text}: ${duration.error}`);
  const wholeSeconds = Math.trunc(duration.ms / 1000) * 1000;
  return { everyMs: Math.max(minEveryMs, wholeSeconds) };
}

function parseFields(text: string): FieldSchedule {
  const fields = text.split(/\s+/).filter((field) => field !== '');
  if (fields.length !== fieldCount)
    throw new ScheduleProblem(
      `expected exactly ${fieldCount} fields, found ${fields.length}: [${fields.join(' ')}]`,
    );
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = fields;
  return {
    minutes: parseField(minute, minutes),
    hours: parseField(hour, hours),
    daysOfMonth: parseField(dayOfMonth, daysOfMonth),
    months: parseField(month, months),
    daysOfWeek: parseField(dayOfWeek, daysOfWeek),
  };
}

/** A list of ranges; nothing between commas is no range. */
function parseField(text: string, bounds: Bounds): FieldValues {
  const values = new Set<number>();
  let isAny = false;
  for (const range of text.split(',')) {
    if (range !== '' && addRange(values, range, bounds)) isAny = true;
  }
  return { values, isAny };
}

/** `*`, `7`, `1-5`, each with `/step`. Returns whether it is `*` without a step. */
function addRange(values: Set<number>, range: string, bounds: Bounds): boolean {
  const [ends = '', stepText, ...slashes] = range.split('/');
  const [low = '', high, ...hyphens] = ends.split('-');
  const isStar = low === '*' || low === '?';
  if (!isStar && hyphens.length > 0) throw new ScheduleProblem(`too many hyphens: ${range}`);
  const start = isStar ? bounds.min : parseValue(low, bounds);
  let end = isStar ? bounds.max : high === undefined ? start : parseValue(high, bounds);
  if (slashes.length > 0) throw new ScheduleProblem(`too many slashes: ${range}`);
  const step = stepText === undefined ? 1 : parseNumber(stepText);
  // `5/15` is from 5 on.
  if (stepText !== undefined && high === undefined) end = bounds.max;
  checkRange({ start, end, step, range }, bounds);
  for (let value = start; value <= end; value += step) values.add(value);
  return isStar && step === 1;
}

type Range = {
  readonly start: number;
  readonly end: number;
  readonly step: number;
  readonly range: string;
};

function checkRange({ start, end, step, range }: Range, { min, max }: Bounds): void {
  if (start < min)
    throw new ScheduleProblem(`beginning of range (${start}) below minimum (${min}): ${range}`);
  if (end > max)
    throw new ScheduleProblem(`end of range (${end}) above maximum (${max}): ${range}`);
  if (start > end)
    throw new ScheduleProblem(
      `beginning of range (${start}) beyond end of range (${end}): ${range}`,
    );
  if (step === 0) throw new ScheduleProblem(`step of range should be a positive number: ${range}`);
}

function parseValue(text: string, { names, min }: Bounds): number {
  const index = names?.indexOf(text.toLowerCase()) ?? -1;
  return index === -1 ? parseNumber(text) : index + min;
}

/** More digits than a 64-bit number has are an error. */
const maxDigits = 19;

function parseNumber(text: string): number {
  const [, sign, digits] = /^([+-]?)([0-9]+)$/.exec(text) ?? [];
  const failed = `failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}`;
  if (digits === undefined) throw new ScheduleProblem(`${failed}: invalid syntax`);
  if (digits.replace(/^0+/, '').length > maxDigits)
    throw new ScheduleProblem(`${failed}: value out of range`);
  const value = Number(digits);
  if (sign === '-' && value > 0)
    throw new ScheduleProblem(`negative number (-${value}) not allowed: ${text}`);
  return value;
}
