// Explains why JSON does not fit a schema, with the messages of Go's encoding/json in document order. Slow and exact;
// decode.ts calls it only when something is wrong.

import { canonicalBase64 } from './base64.ts';
import { fitsInteger } from './fits-integer.ts';
import { goQuote } from './go-quote.ts';
import { parseGoTime } from './go-time.ts';
import type { JsonTree } from './json-tree.ts';
import type { ScalarNode, ScalarType, Schema, StructNode } from './node.ts';
import { readQuantity } from './quantity.ts';

export type StrictProblem = { readonly kind: 'unknown' | 'duplicate'; readonly path: string };

export type DecodeProblems = {
  /** Unknown fields and duplicate keys, each once. */
  readonly strict: readonly StrictProblem[];
  /** Go's message for the first type mismatch. */
  readonly error?: string;
};

/** Upstream's limit, so that a hostile body cannot fill memory. */
const maxStrictProblems = 100;

export function findDecodeProblems(schema: StructNode, tree: JsonTree): DecodeProblems {
  const walk: Walk = { strict: new Map(), fields: [], struct: '', error: undefined };
  try {
    visit(walk, schema, { tree, path: '' });
  } catch (problem) {
    if (!(problem instanceof FatalMismatch)) throw problem;
    walk.error = problem.message;
  }
  const strict = [...walk.strict.values()];
  return walk.error === undefined ? { strict } : { strict, error: walk.error };
}

/** `unknown field "spec.foo"`, as in strict errors and warnings. */
export function strictProblemText({ kind, path }: StrictProblem): string {
  return `${kind} field ${goQuote(path)}`;
}

/** A custom decoder failed: Go stops at once, and this error precedes earlier ones. */
class FatalMismatch extends Error {
  override readonly name = 'FatalMismatch';
}

type Walk = {
  readonly strict: Map<string, StrictProblem>;
  /** JSON names of the enclosing fields without list indexes, as in Go's errors. */
  readonly fields: string[];
  struct: string;
  error: string | undefined;
};

type Position = { readonly tree: JsonTree; readonly path: string };

function visit(walk: Walk, schema: Schema, position: Position): void {
  const { tree } = position;
  if (tree.type === 'null') return;
  if (schema.node === 'scalar') visitScalar(walk, schema, tree);
  else if (tree.type !== (schema.node === 'list' ? 'array' : 'object')) {
    walk.error ??= mismatch(walk, tree.type, goType(schema));
  } else if (schema.node === 'list') visitItems(walk, schema.items, position);
  else if (schema.node === 'struct') visitStruct(walk, schema, position);
  else {
    visitEntries(walk, position, (_key, item, path) => {
      visit(walk, schema.values, { tree: item, path });
    });
  }
}

function visitItems(walk: Walk, schema: Schema, { tree, path }: Position): void {
  if (tree.type !== 'array') return;
  for (const [index, item] of tree.items.entries()) {
    visit(walk, schema, { tree: item, path: `${path}[${index}]` });
  }
}

function visitStruct(walk: Walk, schema: StructNode, position: Position): void {
  const outer = walk.struct;
  visitEntries(walk, position, (key, tree, path) => {
    const field = Object.hasOwn(schema.fields, key) ? schema.fields[key] : undefined;
    if (field === undefined) {
      note(walk, { kind: 'unknown', path });
      return;
    }
    walk.struct = schema.name;
    walk.fields.push(key);
    visit(walk, field, { tree, path });
    walk.fields.pop();
    walk.struct = outer;
  });
}

type Entry = (key: string, tree: JsonTree, path: string) => void;

function visitEntries(walk: Walk, { tree, path }: Position, entry: Entry): void {
  if (tree.type !== 'object') return;
  const seen = new Set<string>();
  for (const [key, value] of tree.entries) {
    const below = path === '' ? key : `${path}.${key}`;
    if (seen.has(key) && !isUnknown(walk, below)) note(walk, { kind: 'duplicate', path: below });
    seen.add(key);
    entry(key, value, below);
  }
}

const isUnknown = (walk: Walk, path: string): boolean =>
  walk.strict.has(strictProblemText({ kind: 'unknown', path }));

function note(walk: Walk, problem: StrictProblem): void {
  if (walk.strict.size >= maxStrictProblems) return;
  const text = strictProblemText(problem);
  if (!walk.strict.has(text)) walk.strict.set(text, problem);
}

/** Types with custom decoders in Go. */
const ownDecoder: readonly ScalarType[] = ['quantity', 'time', 'microTime', 'intOrString'];

function visitScalar(walk: Walk, schema: ScalarNode, tree: JsonTree): void {
  const error = scalarError(walk, schema, tree);
  if (error !== undefined && ownDecoder.includes(schema.type)) throw new FatalMismatch(error);
  walk.error ??= error;
}

function scalarError(walk: Walk, schema: ScalarNode, tree: JsonTree): string | undefined {
  switch (schema.type) {
    case 'any':
      return undefined;
    case 'boolean':
      return tree.type === 'bool' ? undefined : mismatch(walk, tree.type, goType(schema));
    case 'string':
      return tree.type === 'string' ? undefined : mismatch(walk, tree.type, goType(schema));
    case 'bytes':
      if (tree.type !== 'string') return mismatch(walk, tree.type, goType(schema));
      return errorOf(canonicalBase64(tree.value));
    case 'int32':
    case 'int64':
    case 'double':
      return numberMismatch(walk, schema, tree);
    case 'quantity':
      return quantityMismatch(tree);
    case 'time':
    case 'microTime':
      if (tree.type !== 'string') return mismatch(walk, tree.type, 'string');
      return errorOf(parseGoTime(schema.type === 'time' ? 'seconds' : 'micros', tree.value));
    case 'intOrString':
      if (tree.type === 'string') return undefined;
      return numberMismatch(walk, { ...schema, type: 'int32' }, tree);
  }
}

function quantityMismatch(tree: JsonTree): string | undefined {
  if (tree.type === 'string') return errorOf(readQuantity(tree.value.trim()));
  return errorOf(readQuantity(tree.type === 'number' ? tree.literal : '?'));
}

function numberMismatch(walk: Walk, schema: ScalarNode, tree: JsonTree): string | undefined {
  if (tree.type !== 'number') return mismatch(walk, tree.type, goType(schema));
  if (fits(schema.type, tree.literal)) return undefined;
  return mismatch(walk, `number ${tree.literal}`, goType(schema));
}

function fits(type: ScalarType, literal: string): boolean {
  if (type === 'double') return Number.isFinite(Number(literal));
  return fitsInteger(literal, type === 'int32' ? 32 : 64);
}

function errorOf(result: object): string | undefined {
  return 'error' in result ? String(result.error) : undefined;
}

function mismatch({ struct, fields }: Walk, found: string, wanted: string): string {
  const where = fields.length === 0 ? 'Go value' : `Go struct field ${struct}.${fields.join('.')}`;
  return `json: cannot unmarshal ${found} into ${where} of type ${wanted}`;
}

/** Scalars by their names in Go. */
export const goScalars: Readonly<Record<ScalarType, string>> = {
  string: 'string',
  int32: 'int32',
  int64: 'int64',
  double: 'float64',
  boolean: 'bool',
  time: 'v1.Time',
  microTime: 'v1.MicroTime',
  quantity: 'resource.Quantity',
  intOrString: 'intstr.IntOrString',
  bytes: '[]uint8',
  any: 'interface {}',
};

/** Go's name of the type without its pointer. */
function goType(schema: Schema): string {
  if (schema.goType !== undefined) return schema.goType;
  switch (schema.node) {
    case 'scalar':
      return goScalars[schema.type];
    case 'struct':
      return `v1.${schema.name}`;
    case 'list':
      return `[]${goType(schema.items)}`;
    case 'map':
      return `map[string]${goType(schema.values)}`;
  }
}
