import { isJsonObject } from '../../schema/json-object.ts';

// How Go prints plain JSON values with %v; some error texts show them so.

export function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isJsonObject(value)) return typeof value === 'number' ? goNumber(value) : String(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goText(value[key])}`);
  return `map[${entries.join(' ')}]`;
}

/** Integers as they are; others with an exponent of at least two digits where Go uses one. */
function goNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e21)) {
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return String(value);
}
