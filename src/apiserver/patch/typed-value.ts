// What server-side apply needs to know of a value's schema.
import type { Schema, StructNode } from '../../schema/node.ts';
import { isAssociative } from './path-element.ts';

/** Owned as a whole: scalars, and what the schema calls atomic. Lists are, unless it says otherwise. */
export function isAtomic(schema: Schema): boolean {
  if (schema.node === 'scalar') return true;
  return schema.node === 'list' ? !isAssociative(schema) : schema.mapType === 'atomic';
}

/** Absent, null or empty. */
export function isBare(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (typeof value !== 'object') return false;
  for (const _ in value) return false;
  return true;
}

/** The schema of a field or map value; what the schema does not know is taken as it is. */
export function schemaOf(schema: Schema, key: string): Schema {
  if (schema.node === 'map') return schema.values;
  if (schema.node !== 'struct' || !Object.hasOwn(schema.fields, key)) return unknownValue;
  return schema.fields[key] ?? unknownValue;
}

const unknownValue: Schema = { node: 'scalar', type: 'any', presence: 'omitempty' };

const zeros = new WeakMap<StructNode, Record<string, unknown>>();

/** The object before anything was set: Go's zero struct, with the fields that Go always writes. */
export function zeroObject(schema: StructNode): Readonly<Record<string, unknown>> {
  const known = zeros.get(schema);
  if (known !== undefined) return known;
  const zero: Record<string, unknown> = {};
  for (const [name, node] of Object.entries(schema.fields)) {
    if (node.presence === 'always') zero[name] = zeroValue(node);
  }
  zeros.set(schema, zero);
  return zero;
}

function zeroValue(schema: Schema): unknown {
  if (schema.node === 'struct') return zeroObject(schema);
  if (schema.node !== 'scalar') return null;
  switch (schema.type) {
    case 'boolean':
      return false;
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    case 'string':
      return '';
    default:
      return null;
  }
}
