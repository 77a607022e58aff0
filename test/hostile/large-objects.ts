// Objects of every kind in which one field is as large as a body may be: each list, map and text of the schema, in
// several forms.
import { allKinds } from '../../src/kinds/all.ts';
import type { AnyKind } from '../../src/kinds/definition.ts';
import { groupResource, groupVersion } from '../../src/meta/object.ts';
import type { Schema, StructNode } from '../../src/schema/node.ts';
import { maxMembers, maxValues } from '../../src/schema/value-count.ts';
import { seedObjects } from '../fuzz/seed-objects.ts';

export type LargeObject = {
  readonly kind: AnyKind;
  /** `spec.ports[]`: the field that is large. */
  readonly field: string;
  readonly form: string;
  /** Created on demand. */
  readonly make: () => {
    readonly object: Fields;
    /** Of the large field. */
    readonly value: unknown;
  };
  /** Where the large field is, as a JSON pointer. */
  readonly pointer: string;
};

type Fields = Readonly<Record<string, unknown>>;
type Path = readonly (string | number)[];
type FieldPath = { readonly path: Path; readonly schema: Schema };

/** A little below the limits, for what stands around the field. */
const maxBytes = 2_900_000;
const fieldValues = maxValues - 1_000;

export function* largeObjects(scale = 1): Generator<LargeObject> {
  for (const kind of allKinds) {
    const seed = seedOf(kind);
    for (const { path, schema } of fieldPathsOf(kind.schema)) {
      for (const [form, makeValue] of largeValues(schema, scale)) {
        const make = () => {
          const value = makeValue();
          return { object: setAt(seed, path, value) as Fields, value };
        };
        const pointer = path.map((key) => `/${key}`).join('');
        const field = path.map((key) => (key === 0 ? '[]' : `.${key}`)).join('');
        yield { kind, field: field.slice(1), form, make, pointer };
      }
    }
  }
}

function seedOf(kind: AnyKind): Fields {
  const { group, version, plural } = kind;
  return {
    apiVersion: groupVersion(group, version),
    kind: kind.kind,
    metadata: { name: nameOf(plural), labels: { a: 'b' } },
    ...seedObjects[groupResource(group, plural)],
  };
}

/** Some kinds are named for what they are. */
const nameOf = (plural: string): string => (plural === 'ipaddresses' ? '10.96.0.98' : 'large');

/** Pod templates are what pods are: only those of Deployments are walked, and not their specs. */
const skipped = new Set(['template.spec', 'managedFields.fieldsV1']);

function* fieldPathsOf(schema: Schema, path: Path = []): Generator<FieldPath> {
  if (skipped.has(path.slice(-2).join('.'))) return;
  if (schema.node !== 'struct' && path.length > 0) yield { path, schema };
  if (schema.node === 'struct') {
    for (const [name, field] of Object.entries((schema as StructNode).fields)) {
      if (path.length > 0 || (name !== 'apiVersion' && name !== 'kind')) {
        yield* fieldPathsOf(field, [...path, name]);
      }
    }
  } else if (schema.node === 'list') yield* fieldPathsOf(schema.items, [...path, 0]);
  else if (schema.node === 'map') yield* fieldPathsOf(schema.values, [...path, 'a']);
}

type Form = readonly [name: string, make: () => unknown];

function largeValues(schema: Schema, scale: number): readonly Form[] {
  if (schema.node === 'list') {
    return [
      ['distinct items', () => repeat(schema.items, scale, (n) => sample(schema.items, n))],
      ['equal items', () => repeat(schema.items, scale, () => sample(schema.items, 1))],
    ];
  }
  if (schema.node === 'map') {
    const items = () =>
      repeat(schema.values, scale, (n) => [`k${n}`, sample(schema.values, n)] as const);
    return [['distinct keys', () => Object.fromEntries(items())]];
  }
  if (schema.node !== 'scalar' || !('string' === schema.type || isText(schema.type))) return [];
  const bytes = Math.floor(maxBytes * scale);
  return [
    ['letters', () => 'a'.repeat(bytes)],
    ['digits', () => '1'.repeat(bytes)],
    ['labels', () => 'a.'.repeat(bytes / 2)],
    ['slashes', () => '/..'.repeat(bytes / 3)],
  ];
}

const isText = (type: string): boolean =>
  ['quantity', 'intOrString', 'bytes', 'time', 'microTime'].includes(type);

/** As many as the limits of bytes and values allow. */
function repeat<T>(schema: Schema, scale: number, make: (n: number) => T): readonly T[] {
  const one = JSON.stringify(sample(schema, 12_345));
  const values = 1 + (one.match(/[,{[]/g)?.length ?? 0);
  const count = Math.min(maxBytes / (one.length + 10), fieldValues / values, maxMembers);
  return Array.from({ length: Math.floor(count * scale) }, (_, n) => make(n));
}

/** Differs by its number, in forms that often are valid. */
function sample(schema: Schema, n: number): unknown {
  switch (schema.node) {
    case 'list':
      return [sample(schema.items, n)];
    case 'map':
      return { [`k${n}`]: sample(schema.values, n) };
    case 'struct':
      return sampleStruct(schema, n);
    case 'scalar':
      return sampleScalar(schema.type, n);
  }
}

/** The first fields that are texts or numbers, those that tell items apart, and those that are true of one item only. */
function sampleStruct({ fields }: StructNode, n: number): Fields {
  const scalars = Object.entries(fields).filter(([, { node }]) => node === 'scalar');
  const flags = scalars.slice(3).filter(([, field]) => isFlag(field));
  const chosen =
    scalars.length > 0
      ? [...scalars.slice(0, 3), ...flags.slice(0, 1)]
      : Object.entries(fields).slice(0, 1);
  return Object.fromEntries(chosen.map(([name, field]) => [name, fieldSample(name, field, n)]));
}

const isFlag = (field: Schema): boolean => field.node === 'scalar' && field.type === 'boolean';

function fieldSample(name: string, field: Schema, n: number): unknown {
  if (/^ip$|address$|cidr/i.test(name)) return `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
  if (field.node === 'scalar' && field.enum !== undefined) return field.enum[n % field.enum.length];
  return sample(field, n);
}

function sampleScalar(type: string, n: number): unknown {
  switch (type) {
    case 'boolean':
      return n % 2 === 0;
    case 'int32':
    case 'int64':
    case 'double':
      return 1 + (n % 65_000);
    case 'quantity':
      return `${n}m`;
    case 'bytes':
      return 'AAAA';
    case 'time':
      return '2024-01-01T00:00:00Z';
    case 'microTime':
      return '2024-01-01T00:00:00.000001Z';
    case 'any':
      return {};
    default:
      return `n${n}`;
  }
}

/** A copy with a value at a path; what is missing on the way is made. */
function setAt(value: unknown, path: Path, wanted: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return wanted;
  if (key === 0) {
    const [first, ...others] = Array.isArray(value) ? value : [];
    return [setAt(first, rest, wanted), ...others];
  }
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Fields;
  return { ...fields, [key]: setAt(fields[key], rest, wanted) };
}
