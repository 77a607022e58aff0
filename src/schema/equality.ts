import type { JsonObject } from './json-object.ts';

// Semantic equality of JSON values. The order of keys does not matter; an absent list, null and an empty list are
// equal, because Go clients cannot distinguish them.

export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isNothing(a) || isNothing(b)) return isNothing(a) && isNothing(b);
  if (typeof a !== 'object' || typeof b !== 'object') return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && equalLists(a, b);
  }
  return equalObjects(
    a as Readonly<Record<string, unknown>>,
    b as Readonly<Record<string, unknown>>,
  );
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function equalLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (!deepEqual(a[i], b[i])) return false;
  }
  return true;
}

function equalObjects(a: JsonObject, b: JsonObject): boolean {
  for (const key of Object.keys(a)) {
    if (!deepEqual(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false;
  }
  for (const key of Object.keys(b)) {
    if (!Object.hasOwn(a, key) && !isNothing(b[key])) return false;
  }
  return true;
}
