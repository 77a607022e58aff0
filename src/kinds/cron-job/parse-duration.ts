// Durations in Go's form: `1h30m`, `-1.5s`. Upstream: time.ParseDuration().
import { goQuote } from '../../schema/go-quote.ts';

const unitMs: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/** Go counts nanoseconds in 64 bits. */
const maxMs = 2 ** 63 / 1e6;

export type ParsedDuration = { readonly ms: number } | { readonly error: string };

/** The text is bounded by the caller and is read once. */
export function parseDuration(text: string): ParsedDuration {
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text;
  if (unsigned === '0') return { ms: 0 };
  let ms = 0;
  let rest = unsigned;
  do {
    const part = readPart(rest);
    if ('problem' in part) return { error: `time: ${part.problem} duration ${goQuote(text)}` };
    ms += part.ms;
    rest = rest.slice(part.length);
    if (ms > maxMs) return { error: `time: invalid duration ${goQuote(text)}` };
  } while (rest !== '');
  return { ms: text.startsWith('-') ? -ms : ms };
}

type Part = { readonly ms: number; readonly length: number } | { readonly problem: string };

/** A number and its unit at the start of the text. */
function readPart(text: string): Part {
  const [all = '', whole = '', fraction = '', unit = ''] =
    /^([0-9]*)(\.[0-9]*)?([^0-9.]*)/.exec(text) ?? [];
  if (whole === '' && fraction.length < 2) return { problem: 'invalid' };
  if (unit === '') return { problem: 'missing unit in' };
  const factor = unitMs.get(unit);
  if (factor === undefined) return { problem: `unknown unit ${goQuote(unit)} in` };
  return { ms: Number(`${whole || '0'}${fraction || '.'}0`) * factor, length: all.length };
}
