// A strategically merged object that does not match its type fails with another message than a body: upstream turns
// the merged map into a struct by reflection (DefaultUnstructuredConverter), not through JSON.

import { isJsonObject } from '../../schema/json-object.ts';
import type { ScalarNode, Schema } from '../../schema/node.ts';
import { field, jsonTypeName } from './json-value.ts';

/** The first mismatch in the order of the fields; undefined when all types match. */
export function unstructuredError(schema: Schema, value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined;
  switch (schema.node) {
    case 'scalar':
      return scalarError(schema, value);
    case 'list':
      if (!Array.isArray(value)) return `cannot restore slice from ${goKind(value)}`;
      return firstError(value.map((item) => [schema.items, item]));
    case 'map':
      if (!isJsonObject(value)) return `cannot restore map from ${goKind(value)}`;
      return firstError(Object.values(value).map((item) => [schema.values, item]));
    case 'struct':
      if (!isJsonObject(value)) return `cannot restore struct from: ${goKind(value)}`;
      return firstError(
        Object.entries(schema.fields).map(([name, node]) => [node, field(value, name)]),
      );
  }
}

function firstError(pairs: readonly (readonly [Schema, unknown])[]): string | undefined {
  for (const [schema, value] of pairs) {
    const error = unstructuredError(schema, value);
    if (error !== undefined) return error;
  }
  return undefined;
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  if (isJsonObject(value)) return 'map';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return Number.isInteger(value) ? 'int64' : 'float64';
}

function scalarError({ type, goType = 'string' }: ScalarNode, value: unknown): string | undefined {
  switch (type) {
    case 'string':
      return stringError(value, goType);
    case 'int32':
    case 'int64':
      return numberError(type, value);
    case 'double':
      return typeof value === 'number' ? undefined : 'unrecognized type: float64';
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'unrecognized type: bool';
    case 'bytes':
      return typeof value === 'string' ? undefined : `cannot restore slice from ${goKind(value)}`;
    case 'time':
    case 'microTime':
      return typeof value === 'string' ? undefined : unmarshalError(value, 'string');
    case 'intOrString':
      return typeof value === 'string' || Number.isInteger(value)
        ? undefined
        : unmarshalError(value, 'int32');
    default:
      return undefined;
  }
}

/** Go converts integers to strings, so that the mismatch is found one step later and worded differently. */
function stringError(value: unknown, goType: string): string | undefined {
  if (typeof value === 'string') return undefined;
  return goKind(value) === 'int64'
    ? `cannot convert int64 to ${goType}`
    : 'unrecognized type: string';
}

function numberError(type: string, value: unknown): string | undefined {
  if (Number.isInteger(value)) return undefined;
  return typeof value === 'number'
    ? `cannot convert float64 to ${type}`
    : `unrecognized type: ${type}`;
}

function unmarshalError(value: unknown, wanted: string): string {
  const shown = typeof value === 'number' && wanted !== 'string' ? ` ${value}` : '';
  return `json: cannot unmarshal ${jsonTypeName(value)}${shown} into Go value of type ${wanted}`;
}
