// The schema language of kinds. One definition gives the TypeScript type, the decoder, the OpenAPI document, the merge
// rules of patches and the ownership rules of server-side apply.
//
// Presence mirrors how Go writes a field, because clients see it:
//   omitempty  left out when zero ('' 0 false [] {})          the default of scalars, lists and maps
//   pointer    kept exactly as given, zero values included; absent when null
//   always     written even when zero (lists and maps then read null)    the default of structs

export type Presence = 'omitempty' | 'pointer' | 'always';

export type ScalarType =
  | 'string'
  | 'int32'
  | 'int64'
  | 'double'
  | 'boolean'
  | 'time' // RFC 3339, whole seconds
  | 'microTime' // RFC 3339, exactly six decimals
  | 'quantity'
  | 'intOrString'
  | 'bytes' // base64
  | 'any'; // free-form JSON, kept as it is

export type Facts = {
  readonly description?: string;
  /** Listed as required in OpenAPI; does not affect presence. */
  readonly required?: boolean;
  /** The default for a list key that is absent, and in OpenAPI. */
  readonly default?: string | number | boolean;
  readonly enum?: readonly string[];
  /** Strategic merge patch: lists merge by mergeKey, structs may retain keys. */
  readonly patchStrategy?: 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys';
  /** OpenAPI `format`, if not the type's default. */
  readonly format?: string;
  /** Go's type name in error messages, if not the plain one: `v1.Protocol`. */
  readonly goType?: string;
};

export type ListFacts = Facts & {
  /** Ownership under server-side apply: of the whole list, each value, or each item by its keys. */
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly keys?: readonly string[];
  /** The key by which strategic merge patch matches items. */
  readonly mergeKey?: string;
};

export type MapFacts = Facts & { readonly mapType?: 'granular' | 'atomic' };

/**
 * The protobuf field number, or the numbers of the enclosing messages that JSON inlines and of the field. 0: not in
 * the message, because kind and apiVersion are in the envelope.
 */
export type FieldNumber = number | readonly number[];

export type StructFacts = MapFacts & {
  /** In the order of the fields. */
  readonly numbers?: readonly FieldNumber[];
};

type Typed<T, P extends Presence> = { readonly presence: P; readonly __type?: T };

export type ScalarNode = Facts & {
  readonly node: 'scalar';
  readonly type: ScalarType;
  readonly presence: Presence;
};
export type ListNode = ListFacts & {
  readonly node: 'list';
  readonly items: Schema;
  readonly presence: Presence;
};
export type MapNode = MapFacts & {
  readonly node: 'map';
  readonly values: Schema;
  readonly presence: Presence;
};
export type StructNode = StructFacts & {
  readonly node: 'struct';
  /** Go's type name in error messages and OpenAPI. */
  readonly name: string;
  readonly fields: Readonly<Record<string, Schema>>;
  readonly presence: Presence;
};
export type Schema = ScalarNode | ListNode | MapNode | StructNode;

/** The TypeScript type of a schema's objects. */
export type Static<S> = S extends { readonly __type?: infer T } ? Exclude<T, undefined> : never;

type Fields = Readonly<Record<string, Schema>>;
type AlwaysKeys<F> = { [K in keyof F]: F[K] extends { presence: 'always' } ? K : never }[keyof F];
type Flat<T> = { [K in keyof T]: T[K] };
type StructType<F extends Fields> = Flat<
  { readonly [K in AlwaysKeys<F>]: Static<F[K]> } & {
    readonly [K in Exclude<keyof F, AlwaysKeys<F>>]?: Static<F[K]>;
  }
>;

type Scalar<T> = ScalarNode & Typed<T, 'omitempty'>;
type Note = string | Facts;

const facts = (note: Note | undefined): Facts =>
  typeof note === 'string' ? { description: note } : (note ?? {});

function scalar<T>(type: ScalarType) {
  return (description?: string, more?: Facts): Scalar<T> => ({
    node: 'scalar',
    type,
    presence: 'omitempty',
    ...facts(description),
    ...more,
  });
}

export const string = scalar<string>('string');
export const int32 = scalar<number>('int32');
export const int64 = scalar<number>('int64');
export const double = scalar<number>('double');
export const boolean = scalar<boolean>('boolean');
export const time = scalar<string>('time');
export const microTime = scalar<string>('microTime');
export const quantity = scalar<string>('quantity');
export const intOrString = scalar<number | string>('intOrString');
export const bytes = scalar<string>('bytes');
export const any = scalar<unknown>('any');

/** A text with a union type. The decoder does not enforce the values. */
export function oneOf<const V extends readonly string[]>(
  values: V,
  description?: string,
  more?: Facts,
): Scalar<V[number]> {
  return { ...string(description, more), enum: values } as Scalar<V[number]>;
}

export function list<S extends Schema>(
  items: S,
  description?: string,
  more?: ListFacts,
): ListNode & Typed<readonly Static<S>[], 'omitempty'> {
  return { node: 'list', items, presence: 'omitempty', ...facts(description), ...more };
}

export function map<S extends Schema>(
  values: S,
  description?: string,
  more?: MapFacts,
): MapNode & Typed<Readonly<Record<string, Static<S>>>, 'omitempty'> {
  return { node: 'map', values, presence: 'omitempty', ...facts(description), ...more };
}

export function struct<const F extends Fields>(
  name: string,
  fields: F,
  more?: StructFacts,
): StructNode & { readonly fields: F } & Typed<StructType<F>, 'always'> {
  return { node: 'struct', name, fields, presence: 'always', ...more };
}

/** Fields that protobuf puts into a nested message with this number. */
export function within(number: number, inner: readonly number[]): readonly FieldNumber[] {
  return inner.map((n) => [number, n]);
}

type With<S extends Schema, P extends Presence, T = Static<S>> = Omit<S, 'presence' | '__type'> &
  Typed<T, P> &
  Schema;

/** A Go pointer: absent, or exactly as given. */
export function pointer<S extends Schema>(schema: S, note?: Note): With<S, 'pointer'> {
  return { ...schema, ...facts(note), presence: 'pointer' } as unknown as With<S, 'pointer'>;
}

type OrNull<S extends Schema> = S extends ListNode | MapNode ? Static<S> | null : Static<S>;

/** Always written: lists and maps read back as null. */
export function always<S extends Schema>(schema: S, note?: Note): With<S, 'always', OrNull<S>> {
  return { ...schema, ...facts(note), presence: 'always' } as unknown as With<
    S,
    'always',
    OrNull<S>
  >;
}

/** Required in OpenAPI and `kubectl explain`; does not change presence. */
export function required<S extends Schema>(schema: S): S {
  return { ...schema, required: true };
}

/** The same schema with another description or other properties, for fields that share a struct. */
export function described<S extends Schema>(schema: S, note: Note): S {
  return { ...schema, ...facts(note) };
}
