// Times for people, by the clock on their wall.

export type LocalTimeOptions = {
  /** The offset of the time zone from UTC at a moment; absent: that of this machine. */
  readonly offsetMinutes?: (ms: number) => number;
};

const minuteMs = 60_000;

const offsetHere = (ms: number): number => -new Date(ms).getTimezoneOffset();

/** `15:04:05.678`. */
export function formatClock(ms: number, options: LocalTimeOptions = {}): string {
  return shifted(ms, options).slice(11, 23);
}

/** `2026-01-02`. */
export function formatDay(ms: number, options: LocalTimeOptions = {}): string {
  return shifted(ms, options).slice(0, 10);
}

/** `+01:00`; `UTC` where it is that. */
export function formatOffset(
  ms: number,
  { offsetMinutes = offsetHere }: LocalTimeOptions = {},
): string {
  const offset = offsetMinutes(ms);
  if (offset === 0) return 'UTC';
  const two = (count: number): string => String(count).padStart(2, '0');
  const size = Math.abs(offset);
  return `${offset < 0 ? '-' : '+'}${two(Math.trunc(size / 60))}:${two(size % 60)}`;
}

/** `2026-01-02 15:04:05 +01:00`. */
export function formatLocalTime(ms: number, options: LocalTimeOptions = {}): string {
  return `${formatDay(ms, options)} ${formatClock(ms, options).slice(0, 8)} ${formatOffset(ms, options)}`;
}

function shifted(ms: number, { offsetMinutes = offsetHere }: LocalTimeOptions): string {
  return new Date(ms + offsetMinutes(ms) * minuteMs).toISOString();
}
