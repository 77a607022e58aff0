// Durations for people: `850 ms`, `12.3 s`, `2 min 7 s`, `1 h 5 min`.

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < minuteMs) return `${Math.floor(ms / 100) / 10} s`;
  if (ms < hourMs) return two(ms, minuteMs, 'min', 1000, 's');
  return two(ms, hourMs, 'h', minuteMs, 'min');
}

function two(ms: number, large: number, largeUnit: string, small: number, unit: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeUnit}${rest === 0 ? '' : ` ${rest} ${unit}`}`;
}
