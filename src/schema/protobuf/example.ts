// Objects generated from a schema for tests: with every field set, or with zero values.
import type { ScalarType, Schema, StructNode } from '../node.ts';

type Values = Readonly<Record<ScalarType, unknown>>;

/** Difficult values: negative, not ASCII, odd microseconds. */
export const fullValues: Values = {
  string: 'wörd',
  int32: -7,
  int64: 5_000_000_000,
  double: 0.5,
  boolean: true,
  time: '2024-02-29T23:59:59Z',
  microTime: '2024-02-29T23:59:59.000007Z',
  quantity: '1500m',
  intOrString: 'http',
  bytes: 'AP8=',
  any: { 'f:metadata': { '.': {} } },
};

export const zeroValues: Values = {
  string: '',
  int32: 0,
  int64: 0,
  double: 0,
  boolean: false,
  time: '1970-01-01T00:00:00Z',
  microTime: '1970-01-01T00:00:00.000000Z',
  quantity: '0',
  intOrString: 0,
  bytes: '',
  any: {},
};

/** Without the fields of the envelope. */
export function exampleOf(schema: StructNode, values: Values): Readonly<Record<string, unknown>> {
  const entries = Object.entries(schema.fields).flatMap(([name, field], i) =>
    schema.numbers?.[i] === 0 ? [] : [[name, exampleValue(field, values)] as const],
  );
  return Object.fromEntries(entries);
}

function exampleValue(schema: Schema, values: Values): unknown {
  switch (schema.node) {
    case 'scalar':
      return values[schema.type];
    case 'struct':
      return exampleOf(schema, values);
    case 'list':
      return [exampleValue(schema.items, values), exampleValue(schema.items, values)];
    case 'map':
      return { b: exampleValue(schema.values, values), a: exampleValue(schema.values, values) };
  }
}
