// The query parameter `timeout`: how long the client waits for a response, as a Go duration.
import { badRequest } from '../../meta/api-error.ts';

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const quantity = new RegExp(`(\\d+(?:\\.\\d*)?|\\.\\d+)(${Object.keys(unitMs).join('|')})`, 'gy');
const duration = new RegExp(`^([+-]?)((?:${quantity.source})+)$`);

/** In milliseconds; undefined when the client sets none. */
export function requestedTimeout(query: URLSearchParams): number | undefined {
  const text = query.get('timeout');
  if (text === null || text === '' || text === '0') return undefined;
  const [, sign, quantities] = duration.exec(text) ?? [];
  if (quantities === undefined) {
    throw badRequest(
      `invalid timeout specified in the request URL - time: invalid duration ${durationQuote(text)}`,
    );
  }
  const ms = [...quantities.matchAll(quantity)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitMs[unit] ?? 0),
    0,
  );
  return ms === 0 ? undefined : ms * (sign === '-' ? -1 : 1);
}

/** As Go's time package quotes: bytes that are not printable ASCII in hexadecimal. */
function durationQuote(text: string): string {
  const bytes = (part: string) =>
    Array.from(Buffer.from(part), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to escape
  const escaped = text.replace(/["\\]/g, '\\$&').replace(/[\x00-\x1f\u0080-\uffff]+/g, bytes);
  return `"${escaped}"`;
}
