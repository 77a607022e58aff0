// Time zones: which names are valid, and the offset from UTC at an instant. Node.js contains the time zone database.

export type TimeZone = { readonly offsetMs: (instant: number) => number };

export const utc: TimeZone = { offsetMs: () => 0 };

/** As upstream; Intl would also accept offsets, and names in any case. */
const namePart = /^[A-Za-z][A-Za-z._\-0-9+]{0,31}$/;
const maxNameLength = 96;

/** A formatter takes some 20 KiB; clusters use few zones. */
const maxCached = 64;
const cache = new Map<string, TimeZone | undefined>();

/** Undefined: there is no such zone. */
export function findTimeZone(name: string): TimeZone | undefined {
  if (!hasNameForm(name)) return undefined;
  const known = cache.get(name);
  if (known !== undefined || cache.has(name)) return known;
  const zone = createTimeZone(name);
  if (cache.size >= maxCached) {
    const [first] = cache.keys();
    if (first !== undefined) cache.delete(first);
  }
  cache.set(name, zone);
  return zone;
}

/** In the database each part of a name begins with a capital, and file names have a case; a few words are small. */
function hasNameForm(name: string): boolean {
  if (name.length > maxNameLength) return false;
  return name
    .split('/')
    .every((part) => namePart.test(part) && (/^[A-Z]/.test(part) || smallParts.has(part)));
}
const smallParts = new Set(['localtime']);

function createTimeZone(name: string): TimeZone | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      era: 'short',
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  // Intl ignores case, so a name in another case than the database's is found by comparing.
  const { timeZone } = format.resolvedOptions();
  const isMisspelled = timeZone !== name && timeZone.toLowerCase() === name.toLowerCase();
  return isMisspelled
    ? undefined
    : { offsetMs: (instant) => localMs(format, instant) - floorSecond(instant) };
}

const floorSecond = (instant: number): number => Math.floor(instant / 1000) * 1000;

/** The local time as if it were UTC. */
function localMs(format: Intl.DateTimeFormat, instant: number): number {
  const parts = new Map<string, string>();
  for (const { type, value } of format.formatToParts(instant)) parts.set(type, value);
  const number = (type: string): number => Number(parts.get(type));
  const isBefore = parts.get('era') === 'BC';
  const date = new Date(0);
  date.setUTCFullYear(
    isBefore ? 1 - number('year') : number('year'),
    number('month') - 1,
    number('day'),
  );
  date.setUTCHours(number('hour'), number('minute'), number('second'));
  return date.getTime();
}
