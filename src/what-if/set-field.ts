// Sets one field of an object by its path, such as `spec.ports[name=http].port`, with a value that the schema of the kind gives a type.
import { printable } from '../meta/printable.ts';
import { isJsonObject, type JsonObject } from '../schema/json-object.ts';
import type { Schema, StructNode } from '../schema/node.ts';
import { parseYaml } from '../schema/yaml.ts';
import { ChangeError } from './change.ts';

type Step =
  /** A field of a struct, or a key of a map. */
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  /** The item of a list that has this value at this key. */
  | { readonly kind: 'item'; readonly key: string; readonly value: string };

/** Kubernetes' objects are not nested deeper than this. */
const maxSteps = 32;
/** What a path starts with unless it says so: users mean the spec. */
const defaultRoot = 'spec';

export type FieldValue = { readonly path: string; readonly value: string };

/** The object to decode: that the field exists and that the value fits is for the decoder to say, in the API server's words. */
export function setField(object: object, schema: StructNode, change: FieldValue): JsonObject {
  const steps = rooted(parsePath(change.path), schema);
  const [root] = steps;
  if (root?.kind === 'field' && root.name === 'status') {
    throw new ChangeError(
      `--set: "${shown(change.path)}" is status, which controllers write; want a field of spec or metadata`,
    );
  }
  return setAt(object, { steps, schema, change }) as JsonObject;
}

function rooted(steps: readonly Step[], schema: StructNode): readonly Step[] {
  const [first] = steps;
  if (first?.kind === 'field' && Object.hasOwn(schema.fields, first.name)) return steps;
  return [{ kind: 'field', name: defaultRoot }, ...steps];
}

/** `a.b`, `a[0]`, `a[name=http]`, and `a[app.kubernetes.io/name]` for keys with dots. */
function parsePath(path: string): readonly Step[] {
  const steps: Step[] = [];
  let rest = path;
  while (rest !== '') {
    const found = /^(?:\[([^[\]]{1,317})\]|\.?([^.[\]]{1,317}))/.exec(rest);
    const isStart = steps.length === 0;
    if (found === null || steps.length === maxSteps || (isStart && rest.startsWith('.'))) {
      throw new ChangeError(
        `--set: "${shown(path)}" is no path of a field, want one like ports[0].port or ports[name=http].targetPort`,
      );
    }
    const [whole, bracketed, plain = ''] = found;
    steps.push(bracketed === undefined ? { kind: 'field', name: plain } : inBrackets(bracketed));
    rest = rest.slice(whole.length);
  }
  return steps;
}

function inBrackets(text: string): Step {
  if (/^\d{1,6}$/.test(text)) return { kind: 'index', index: Number(text) };
  const equals = text.indexOf('=');
  if (equals < 1) return { kind: 'field', name: text };
  return { kind: 'item', key: text.slice(0, equals), value: text.slice(equals + 1) };
}

type Setting = {
  readonly steps: readonly Step[];
  readonly schema: Schema | undefined;
  readonly change: FieldValue;
};

/** Undefined removes. */
function setAt(current: unknown, { steps, schema, change }: Setting): unknown {
  const [step, ...others] = steps;
  if (step === undefined) return typedValue(change.value, schema);
  const next = (below: unknown, of: Schema | undefined): unknown =>
    setAt(below, { steps: others, schema: of, change });
  if (step.kind === 'field') {
    const holder = isJsonObject(current) ? current : {};
    const { [step.name]: _before, ...rest } = holder;
    const below = Object.hasOwn(holder, step.name) ? holder[step.name] : undefined;
    const value = next(below, childOf(schema, step.name));
    return value === undefined ? rest : { ...rest, [step.name]: value };
  }
  const list = Array.isArray(current) ? current : [];
  const index = step.kind === 'index' ? step.index : findItem(list, step);
  if (index === -1 || index > list.length) throw noItem(step, list.length, change);
  const value = next(list[index], schema?.node === 'list' ? schema.items : undefined);
  return value === undefined ? list.toSpliced(index, 1) : list.toSpliced(index, 1, value);
}

function childOf(schema: Schema | undefined, name: string): Schema | undefined {
  if (schema?.node === 'map') return schema.values;
  if (schema?.node !== 'struct' || !Object.hasOwn(schema.fields, name)) return undefined;
  return schema.fields[name];
}

type ItemStep = Extract<Step, { kind: 'item' }>;

const findItem = (list: readonly unknown[], { key, value }: ItemStep): number =>
  list.findIndex((one) => isJsonObject(one) && Object.hasOwn(one, key) && `${one[key]}` === value);

function noItem(step: Exclude<Step, { kind: 'field' }>, length: number, { path }: FieldValue) {
  const what = step.kind === 'index' ? `item ${step.index}` : `item with ${step.key}=${step.value}`;
  return new ChangeError(`--set: "${shown(path)}": there is no ${printable(what)} among ${length}`);
}

/** Texts that the decoder is to refuse stay as they are. */
function typedValue(text: string, schema: Schema | undefined): unknown {
  if (text === 'null') return undefined;
  if (schema?.node === 'scalar') {
    switch (schema.type) {
      case 'int32':
      case 'int64':
      case 'double':
      case 'intOrString':
        return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text;
      case 'boolean':
        return text === 'true' ? true : text === 'false' ? false : text;
      case 'any':
        return yamlValue(text);
      default:
        return text;
    }
  }
  return schema === undefined ? text : yamlValue(text);
}

function yamlValue(text: string): unknown {
  const parsed = parseYaml(text);
  return 'error' in parsed ? text : parsed.value;
}

const shown = (path: string): string =>
  printable(path.length > 100 ? `${path.slice(0, 100)}…` : path);
