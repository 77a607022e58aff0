// When a schedule is due next, and when it was due last. As robfig/cron: every instant whose local time matches counts, so what
// falls into a gap of daylight saving time is left out, and what is repeated runs twice.
import type { FieldSchedule, FieldValues, Schedule } from './parse-schedule.ts';
import type { TimeZone } from './time-zone.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** Upstream gives up after as many years: `0 0 31 2 *` is never due. */
const maxYears = 5;

/** The first time after `after`; undefined when there is none within five years. In milliseconds. */
export function nextTime(schedule: Schedule, zone: TimeZone, after: number): number | undefined {
  if ('everyMs' in schedule) return Math.floor(after / 1000) * 1000 + schedule.everyMs;
  const limit = after + (maxYears + 1) * 366 * dayMs;
  const lastYear = new Date(after + zone.offsetMs(after)).getUTCFullYear() + maxYears;
  let from = Math.floor(after / minuteMs) * minuteMs + minuteMs;
  // Each round passes one change of the offset: few between a time and the next, as long jumps have no round of their own.
  for (let round = 0; round < maxRounds && from <= limit; round += 1) {
    const offset = zone.offsetMs(from);
    const local = nextLocal(schedule, from + offset, lastYear);
    if (local === undefined) return undefined;
    const found = local - offset;
    if (zone.offsetMs(found) === offset) return found;
    from = changeOfOffset(zone, from, found);
  }
  return undefined;
}

const maxRounds = 32;

/** The first minute with another offset, not earlier than two days before `to`: farther away nothing can match. */
function changeOfOffset(zone: TimeZone, from: number, to: number): number {
  const near = Math.max(from, Math.floor((to - 2 * dayMs) / minuteMs) * minuteMs);
  const offset = zone.offsetMs(from);
  if (zone.offsetMs(near) !== offset) return near;
  let low = near;
  let high = to;
  while (high - low > minuteMs) {
    const middle = low + Math.floor((high - low) / minuteMs / 2) * minuteMs;
    if (zone.offsetMs(middle) === offset) low = middle;
    else high = middle;
  }
  return high;
}

/** The first local minute that matches, not before `from`: whole days first, then hours and minutes. */
function nextLocal(schedule: FieldSchedule, from: number, lastYear: number): number | undefined {
  const firstDay = Math.floor(from / dayMs) * dayMs;
  for (let day = firstDay; ; day += dayMs) {
    const date = new Date(day);
    if (date.getUTCFullYear() > lastYear) return undefined;
    if (!schedule.months.values.has(date.getUTCMonth() + 1)) {
      // To the last day of the month.
      day = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) - dayMs;
      continue;
    }
    if (!matchesDay(schedule, date)) continue;
    const minute = nextMinute(schedule, day === firstDay ? (from - day) / minuteMs : 0);
    if (minute !== undefined) return day + minute * minuteMs;
  }
}

/** With both fields of days given, one that matches is enough. */
function matchesDay({ daysOfMonth, daysOfWeek }: FieldSchedule, date: Date): boolean {
  const inMonth = daysOfMonth.values.has(date.getUTCDate());
  const inWeek = daysOfWeek.values.has(date.getUTCDay());
  return daysOfMonth.isAny || daysOfWeek.isAny ? inMonth && inWeek : inMonth || inWeek;
}

const minutesOfHour = 60;
const hoursOfDay = 24;

/** The first minute of the day that matches, not before `from`. */
function nextMinute({ hours, minutes }: FieldSchedule, from: number): number | undefined {
  const fromHour = Math.floor(from / minutesOfHour);
  for (let hour = fromHour; hour < hoursOfDay; hour += 1) {
    if (!hours.values.has(hour)) continue;
    const minute = firstFrom(minutes, hour === fromHour ? from % minutesOfHour : 0, minutesOfHour);
    if (minute !== undefined) return hour * minutesOfHour + minute;
  }
  return undefined;
}

function firstFrom({ values }: FieldValues, from: number, end: number): number | undefined {
  for (let value = from; value < end; value += 1) if (values.has(value)) return value;
  return undefined;
}

/**
 * The last time that is after `after` and not after `now`; undefined when there is none. By bisection, because years may have
 * been missed.
 */
export function lastTime(
  schedule: Schedule,
  zone: TimeZone,
  { after, now }: { readonly after: number; readonly now: number },
): number | undefined {
  const first = nextTime(schedule, zone, after);
  if (first === undefined || first > now) return undefined;
  if ('everyMs' in schedule) {
    const { everyMs } = schedule;
    return first + Math.floor((now - first) / everyMs) * everyMs;
  }
  let low = first;
  let high = Math.floor(now / minuteMs) * minuteMs;
  // Something is due after `low - 1` and until now; nothing after `high`.
  while (high - low >= minuteMs) {
    const middle = low + Math.ceil((high - low) / minuteMs / 2) * minuteMs;
    const next = nextTime(schedule, zone, middle - 1);
    if (next !== undefined && next <= now) low = next;
    else high = middle - minuteMs;
  }
  return low;
}
