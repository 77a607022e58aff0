// Durations in Go's syntax: `300ms`, `20s`, `1m30s`, `1.5h`, and a bare 0.
import { InvalidArgumentError } from 'commander';

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export type DurationLimits = {
  /** The minimum; absent: 0 is allowed. */
  readonly minMs?: number;
};

/** A flag parser; returns milliseconds. */
export function duration({ minMs = 0 }: DurationLimits = {}): (text: string) => number {
  return (text) => {
    const ms = parseDuration(text);
    if (ms === undefined) {
      throw new InvalidArgumentError(
        `"${text}" is not a duration; it must be one like 300ms, 20s or 1m30s.`,
      );
    }
    if (ms < minMs) {
      throw new InvalidArgumentError(`"${text}" is too short; it must be at least ${minMs} ms.`);
    }
    return ms;
  };
}

/** Milliseconds; undefined where it is none. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/gy)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return undefined;
  const ms = parts.reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0),
    0,
  );
  return Number.isFinite(ms) && ms <= Number.MAX_SAFE_INTEGER ? Math.round(ms) : undefined;
}

/** The shortest form: 50s, 20ms, 1m for 1m0s. */
export function formatDuration(ms: number): string {
  const unit = Object.entries(unitMs).findLast(([, size]) => ms > 0 && ms % size === 0);
  return unit === undefined ? '0s' : `${ms / unit[1]}${unit[0]}`;
}

export type NumberLimits = { readonly min: number; readonly max: number };

/** A flag parser for integers within limits. */
export function wholeNumber({ min, max }: NumberLimits): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`"${text}" is not a whole number from ${min} to ${max}.`);
  };
}

/** For flags with an optional value: `--flag`, `--flag=true` or `--flag=false`. */
export function bool(text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new InvalidArgumentError(`"${text}" is neither true nor false.`);
}
