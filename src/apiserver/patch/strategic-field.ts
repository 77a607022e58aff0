// How a field merges according to the schema, and what remains of a value that has nothing to merge with.

import { isJsonObject } from '../../schema/json-object.ts';
import type { Schema } from '../../schema/node.ts';

export const deletionPrefix = '$deleteFromPrimitiveList';
export const elementOrderPrefix = '$setElementOrder';

/** Absent for a field that the schema does not know. */
export function fieldSchema(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema?.node === 'struct')
    return Object.hasOwn(schema.fields, key) ? schema.fields[key] : undefined;
  return schema?.node === 'map' ? schema.values : undefined;
}

/** `merge`, `replace` or nothing. */
export function strategyOf(node: Schema | undefined): string {
  const strategies = node?.patchStrategy?.split(',') ?? [];
  return strategies.find((strategy) => strategy !== 'retainKeys') ?? '';
}

/** Without nulls and without the objects that a directive is in; undefined when that is the value itself. */
export function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(withoutDirectives).filter((item) => item !== undefined);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, '$patch')) return undefined;
  const entries = Object.entries(value)
    .filter(([, item]) => item !== null)
    .map(([key, item]) => [key, withoutDirectives(item)] as const)
    .filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries);
}
