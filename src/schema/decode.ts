// Decodes raw JSON to an object of a kind: fields in schema order, presence as node.ts defines, unknown fields dropped.
// Schemas are compiled to functions once; for valid input no paths and no messages are built.
import { canonicalBase64 } from './base64.ts';
import { type DecodeProblems, findDecodeProblems, strictProblemText } from './decode-problems.ts';
import { parseGoTime } from './go-time.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import { type JsonTree, treeFromText, treeFromValue } from './json-tree.ts';
import type { ListNode, MapNode, ScalarNode, Schema, StructNode } from './node.ts';
import { canonicalQuantity } from './quantity.ts';
import { formatTime } from './time.ts';

export type Decoded = {
  readonly object: Readonly<Record<string, unknown>>;
  readonly problems: {
    /** Paths of unknown fields, in document order. */
    readonly unknown: readonly string[];
  };
  /** Go's message for the first type mismatch; the object must not be used then. */
  readonly error?: string;
};

/**
 * Decodes the result of JSON.parse. With the original text, errors show numbers as written, and numbers such as `80.0`
 * are rejected where Go rejects them. Parts that are identical to those of `known`, a decoded object, are reused.
 */
export function decode(schema: StructNode, raw: unknown, text?: string, known?: object): Decoded {
  const trouble: Trouble = { found: text !== undefined && oddNumber.test(text) };
  const object = structDecoder(schema)(raw ?? {}, trouble, known) as Decoded['object'];
  if (!trouble.found) return { object, problems: noProblems };
  return withProblems(object, findDecodeProblems(schema, treeOf(raw, text)));
}

/** The same in steps, so that other requests can run between them: explaining errors of large objects takes long. */
export function* decodeSteps(
  schema: StructNode,
  raw: unknown,
  text?: string,
  known?: object,
): Generator<undefined, Decoded> {
  const trouble: Trouble = { found: text !== undefined && oddNumber.test(text) };
  const object = structDecoder(schema)(raw ?? {}, trouble, known) as Decoded['object'];
  yield;
  if (!trouble.found) return { object, problems: noProblems };
  const tree = treeOf(raw, text);
  yield;
  return withProblems(object, findDecodeProblems(schema, tree));
}

function withProblems(object: Decoded['object'], { strict, error }: DecodeProblems): Decoded {
  const unknown = strict.filter((p) => p.kind === 'unknown').map((p) => p.path);
  const problems = { unknown };
  return error === undefined ? { object, problems } : { object, problems, error };
}

/** Unknown and duplicate fields as strict decoding reports them, in document order: `unknown field "spec.foo"`. */
export function strictProblems(schema: StructNode, text: string): readonly string[] {
  return findDecodeProblems(schema, treeFromText(text)).strict.map(strictProblemText);
}

/** Something is or may be wrong; a second pass finds the message. */
type Trouble = { found: boolean };

/** Decodes a JSON value; undefined omits the field. */
type Decoder = (raw: unknown, trouble: Trouble, known?: unknown) => unknown;

const noProblems: Decoded['problems'] = { unknown: [] };

/** Numbers that JSON.parse does not preserve: with a fraction, an exponent or too many digits. */
export const oddNumber = /[[:,]\s*-?[0-9]+(?:\.|[eE]|(?<=[0-9]{16}))/;

function treeOf(raw: unknown, text: string | undefined): JsonTree {
  return text === undefined ? treeFromValue(raw ?? {}) : treeFromText(text);
}

function bad(trouble: Trouble): undefined {
  trouble.found = true;
  return undefined;
}

const structDecoders = new WeakMap<StructNode, Decoder>();

function structDecoder(schema: StructNode): Decoder {
  const known = structDecoders.get(schema);
  if (known !== undefined) return known;
  const names = Object.keys(schema.fields);
  const indexes = new Map(names.map((name, at) => [name, at]));
  const hasZero = names.map((name) => isWrittenAlways(schema.fields[name] as Schema));
  // Fields are compiled on first use, because schemas may be recursive.
  let fields: Fields | undefined;
  const decoder: Decoder = (raw, trouble, known) => {
    if (!isJsonObject(raw)) return bad(trouble);
    if (fields === undefined) {
      const decoders = names.map((name) => fieldDecoder(schema.fields[name] as Schema));
      fields = { names, indexes, hasZero, decoders };
    }
    return decodeStruct(fields, raw, trouble, isJsonObject(known) ? known : nothing);
  };
  structDecoders.set(schema, decoder);
  return decoder;
}

/** Whether the field is written when it is not set. */
function isWrittenAlways({ node, presence }: Schema): boolean {
  return presence === 'always' || (node === 'struct' && presence !== 'pointer');
}

type Fields = {
  readonly names: readonly string[];
  /** By field name. */
  readonly indexes: ReadonlyMap<string, number>;
  readonly hasZero: readonly boolean[];
  readonly decoders: readonly Decoder[];
};
const nothing: JsonObject = {};

/** Iterates the given fields: most fields of most objects are absent. */
function decodeStruct(
  { names, indexes, hasZero, decoders }: Fields,
  raw: JsonObject,
  trouble: Trouble,
  known: JsonObject,
): unknown {
  const values = new Array<unknown>(names.length);
  for (const key in raw) {
    const index = indexes.get(key);
    if (index === undefined) trouble.found = true;
    else values[index] = raw[key];
  }
  const object: Record<string, unknown> = {};
  for (let i = 0; i < names.length; i++) {
    const one = values[i];
    if (one === undefined && !hasZero[i]) continue;
    const name = names[i] as string;
    const old = known[name];
    const isSame = one === old && one !== undefined;
    const value = isSame ? one : (decoders[i] as Decoder)(one, trouble, old);
    if (value !== undefined) object[name] = value;
  }
  return object;
}

function fieldDecoder(schema: Schema): Decoder {
  const value = valueDecoder(schema);
  if (schema.presence === 'pointer') {
    return (raw, trouble, known) =>
      raw === undefined || raw === null ? undefined : value(raw, trouble, known);
  }
  if (schema.node === 'struct') {
    const zero = lazily(() => value({}, { found: false }));
    return (raw, trouble, known) =>
      raw === undefined || raw === null ? zero() : value(raw, trouble, known);
  }
  const zero = schema.presence === 'always' ? zeroOf(schema) : undefined;
  return (raw, trouble) => {
    if (raw === undefined || raw === null) return zero;
    const decoded = value(raw, trouble);
    return isEmpty(decoded) ? zero : decoded;
  };
}

/** What Go writes for an unset field. */
function zeroOf(schema: Schema): unknown {
  if (schema.node !== 'scalar') return null;
  switch (schema.type) {
    case 'string':
      return '';
    case 'int32':
    case 'int64':
    case 'double':
    case 'intOrString':
      return 0;
    case 'boolean':
      return false;
    case 'quantity':
      return '0';
    case 'time':
    case 'microTime':
    case 'bytes':
    case 'any':
      return null;
  }
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return value === '' || value === 0 || value === false;
  }
  if (Array.isArray(value)) return value.length === 0;
  for (const _key in value) return false;
  return true;
}

/** Decodes a present value; presence is decided by the field. */
function valueDecoder(schema: Schema): Decoder {
  switch (schema.node) {
    case 'scalar':
      return scalarDecoder(schema);
    case 'struct':
      return structDecoder(schema);
    case 'list':
      return listDecoder(schema);
    case 'map':
      return mapDecoder(schema);
  }
}

/** List items and map values: null is the zero value, and nothing is omitted. */
function itemDecoder(schema: Schema): Decoder {
  const value = valueDecoder(schema);
  if (schema.node === 'struct') return (raw, trouble) => value(raw ?? {}, trouble);
  const zero = schema.node === 'list' ? [] : schema.node === 'map' ? {} : zeroOf(schema);
  return (raw, trouble) => (raw === null || raw === undefined ? zero : value(raw, trouble));
}

function listDecoder(schema: ListNode): Decoder {
  const item = itemDecoder(schema.items);
  return (raw, trouble) => {
    if (!Array.isArray(raw)) return bad(trouble);
    const list = new Array<unknown>(raw.length);
    for (let i = 0; i < raw.length; i++) list[i] = item(raw[i], trouble);
    return list;
  };
}

function mapDecoder(schema: MapNode): Decoder {
  const item = itemDecoder(schema.values);
  return (raw, trouble) => {
    if (!isJsonObject(raw)) return bad(trouble);
    let last = '';
    for (const key in raw) {
      if (key < last || item(raw[key], trouble) !== raw[key]) return rebuiltMap(raw, item, trouble);
      last = key;
    }
    return raw;
  };
}

/** Sorted by key, as Go writes maps. fromEntries makes own properties of all keys, also of `__proto__`. */
function rebuiltMap(raw: JsonObject, item: Decoder, trouble: Trouble): unknown {
  return Object.fromEntries(
    Object.entries(raw)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, item(value, trouble)]),
  );
}

function scalarDecoder({ type }: ScalarNode): Decoder {
  switch (type) {
    case 'any':
      return (raw) => raw;
    case 'string':
      return (raw, trouble) => (typeof raw === 'string' ? raw : bad(trouble));
    case 'boolean':
      return (raw, trouble) => (typeof raw === 'boolean' ? raw : bad(trouble));
    case 'double':
      return (raw, trouble) => (typeof raw === 'number' ? raw : bad(trouble));
    case 'int32':
      return (raw, trouble) => (isInt32(raw) ? raw : bad(trouble));
    case 'int64':
      return (raw, trouble) => (isInt64(raw) ? raw : bad(trouble));
    case 'intOrString':
      return (raw, trouble) => (typeof raw === 'string' || isInt32(raw) ? raw : bad(trouble));
    case 'quantity':
      return decodeQuantity;
    case 'bytes':
      return decodeBytes;
    case 'time':
      return decodeTime;
    case 'microTime':
      return decodeMicroTime;
  }
}

function isInt32(raw: unknown): boolean {
  return typeof raw === 'number' && (raw | 0) === raw;
}

function isInt64(raw: unknown): boolean {
  return Number.isInteger(raw) && (raw as number) >= -(2 ** 63) && (raw as number) <= 2 ** 63;
}

function decodeQuantity(raw: unknown, trouble: Trouble): unknown {
  if (typeof raw !== 'string' && typeof raw !== 'number') return bad(trouble);
  return canonicalQuantity(String(raw).trim()) ?? bad(trouble);
}

function decodeBytes(raw: unknown, trouble: Trouble): unknown {
  const decoded = typeof raw === 'string' ? canonicalBase64(raw) : undefined;
  return decoded !== undefined && 'canonical' in decoded ? decoded.canonical : bad(trouble);
}

/** The common form; later days than the 28th need the calendar. */
const canonicalTime =
  /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{6})?Z$/;

function decodeTime(raw: unknown, trouble: Trouble): unknown {
  if (typeof raw === 'string' && raw.length === 20 && canonicalTime.test(raw)) return raw;
  const time = typeof raw === 'string' ? parseGoTime('seconds', raw) : undefined;
  return time !== undefined && 'ms' in time ? formatTime(time.ms) : bad(trouble);
}

function decodeMicroTime(raw: unknown, trouble: Trouble): unknown {
  if (typeof raw === 'string' && raw.length === 27 && canonicalTime.test(raw)) return raw;
  const time = typeof raw === 'string' ? parseGoTime('micros', raw) : undefined;
  if (time === undefined || 'error' in time) return bad(trouble);
  const decimals = String(time.microseconds).padStart(6, '0');
  return `${formatTime(time.ms).slice(0, -1)}.${decimals}Z`;
}

function lazily(make: () => unknown): () => unknown {
  let made: { readonly value: unknown } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
