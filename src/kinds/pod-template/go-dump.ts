// Prints a value as Go's spew does with %#v: the text that Kubernetes hashes for a pod template. The suffix of a name
// such as web-7d9d45bdf equals upstream's only if this text does, including fields that are not set.

import { goScalars } from '../../schema/decode-problems.ts';
import type { JsonObject } from '../../schema/json-object.ts';
import type { ListNode, MapNode, ScalarNode, Schema, StructNode } from '../../schema/node.ts';
import { goEmbedded, goFieldNames, goFieldNamesOfStructs, goTypes } from '../pod/go-names.ts';
import { dumpQuantity } from './go-dump-quantity.ts';

/** The struct with its type in front, as spew prints it. */
export function dumpGo(schema: StructNode, value: unknown): string {
  return `(v1.${schema.name})${dumpStruct(schema, value)}`;
}

function dumpStruct(schema: StructNode, value: unknown): string {
  const object = (value ?? {}) as JsonObject;
  const names = Object.keys(schema.fields);
  const embedded = goEmbedded[schema.name];
  const inner = embedded === undefined ? [] : names.filter(isIn(embedded));
  const parts = names.flatMap((name) => {
    if (name === inner[0] && embedded !== undefined) {
      const text = inner.map((field) => dumpField(schema, field, object)).join(' ');
      return [`${embedded.name}:(v1.${embedded.name}){${text}}`];
    }
    return inner.includes(name) ? [] : [dumpField(schema, name, object)];
  });
  return `{${parts.join(' ')}}`;
}

const isIn =
  (embedded: (typeof goEmbedded)[string]) =>
  (name: string): boolean =>
    'fields' in embedded ? embedded.fields.includes(name) : !embedded.allBut.includes(name);

function dumpField(struct: StructNode, name: string, object: JsonObject): string {
  const path = `${struct.name}.${name}`;
  const goName = goFieldNamesOfStructs[path] ?? goFieldNames[name] ?? capitalized(name);
  const schema = struct.fields[name] as Schema;
  const value = object[name] ?? undefined;
  const type = goTypeOf(schema, path);
  if (path === 'ObjectMeta.creationTimestamp') return `${goName}:(v1.Time)${zeroTime}`;
  if (schema.presence !== 'pointer' || schema.node === 'list' || schema.node === 'map') {
    return `${goName}:(${type})${dumpValue(schema, value)}`;
  }
  return value === undefined
    ? `${goName}:(*${type})<nil>`
    : `${goName}:(*${type})${dumpValue(schema, value)}`;
}

const capitalized = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1);

/** Templates never have a creation timestamp. */
const zeroTime = '{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}';

const scalarTypes: Readonly<Record<ScalarNode['type'], string>> = {
  ...goScalars,
  any: 'v1.FieldsV1',
};

function goTypeOf(schema: Schema, path: string): string {
  switch (schema.node) {
    case 'struct':
      return `v1.${schema.name}`;
    case 'scalar':
      return goTypes[path] ?? scalarTypes[schema.type];
    case 'list':
      return `[]${goTypeOf(schema.items, path)}`;
    case 'map':
      return isResourceList(schema) ? 'v1.ResourceList' : 'map[string]string';
  }
}

const isResourceList = ({ values }: MapNode): boolean =>
  values.node === 'scalar' && values.type === 'quantity';

function dumpValue(schema: Schema, value: unknown): string {
  switch (schema.node) {
    case 'struct':
      return dumpStruct(schema, value);
    case 'list':
      return dumpList(schema, value as readonly unknown[] | undefined);
    case 'map':
      return dumpMap(schema, value as JsonObject | undefined);
    case 'scalar':
      return dumpScalar(schema, value);
  }
}

/** Storage does not distinguish an empty list from an absent one. */
function dumpList({ items }: ListNode, value: readonly unknown[] = []): string {
  if (value.length === 0) return '<nil>';
  return `[${value.map((item) => dumpValue(items, item)).join(' ')}]`;
}

function dumpMap({ values }: MapNode, value: JsonObject = {}): string {
  // Go compares strings by bytes.
  const keys = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  if (keys.length === 0) return '<nil>';
  return `map[${keys.map((key) => `${key}:${dumpValue(values, value[key])}`).join(' ')}]`;
}

function dumpScalar({ type }: ScalarNode, value: unknown): string {
  switch (type) {
    case 'string':
      return String(value ?? '');
    case 'boolean':
      return String(value ?? false);
    case 'quantity':
      return dumpQuantity(String(value ?? '0'));
    case 'intOrString':
      return dumpIntOrString(value as number | string | undefined);
    default:
      return String(value ?? 0);
  }
}

function dumpIntOrString(value: number | string = 0): string {
  const [kind, number, text] = typeof value === 'number' ? [0, value, ''] : [1, 0, value];
  return `{Type:(intstr.Type)${kind} IntVal:(int32)${number} StrVal:(string)${text}}`;
}
