// Times as Kubernetes writes them, and ages as kubectl prints them.
import { parseGoTime } from './go-time.ts';

/** `2026-01-02T03:04:05Z`; fractions of a second are dropped. */
export function formatTime(ms: number): string {
  const second = Math.floor(ms / secondMs);
  if (second !== latest.second) {
    latest = { second, text: `${new Date(ms).toISOString().slice(0, 19)}Z` };
  }
  return latest.text;
}

/** Cached: many writes occur in one second. */
let latest = { second: Number.NaN, text: '' };

/** `2026-01-02T03:04:05.678000Z`. */
export function formatMicroTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}

/** Milliseconds since 1970 of any RFC 3339 time. */
export function parseTime(text: string): number | undefined {
  const parsed = parseGoTime('seconds', text);
  return 'error' in parsed ? undefined : parsed.ms;
}

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** The age column: two units while the smaller one matters, as kubectl. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / secondMs);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * 60) return `${seconds}s`;
  const minutes = Math.trunc(ms / minuteMs);
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's');
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.trunc(ms / hourMs);
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm');
  return longDuration(hours);
}

function longDuration(hours: number): string {
  const days = Math.trunc(hours / 24);
  if (hours < 2 * 24) return `${hours}h`;
  if (days < 8) return twoUnits(days, 'd', hours % 24, 'h');
  if (days < 2 * 365) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? twoUnits(years, 'y', days % 365, 'd') : `${years}y`;
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
