// The alpha annotation for tolerations: JSON decoded into Go's structs, whose errors it reproduces.
import { type FieldError, invalid } from '../../meta/field-error.ts';
import { goJsonParseError } from '../../schema/go-json-error.ts';
import type { Toleration } from './affinity.ts';
import { validateTolerations } from './validate-scheduling.ts';

export const tolerationsAnnotation = 'scheduler.alpha.kubernetes.io/tolerations';

/** Go's type of each field; field names are case-insensitive, as in Go. */
const goTypes: Readonly<Record<string, readonly [name: string, type: string]>> = {
  key: ['Key', 'string'],
  operator: ['Operator', 'core.TolerationOperator'],
  value: ['Value', 'string'],
  effect: ['Effect', 'core.TaintEffect'],
  tolerationseconds: ['TolerationSeconds', 'int64'],
};

export function validateTolerationsAnnotation(text: string, field: string): readonly FieldError[] {
  if (text === '') return [];
  const problem = goJsonParseError(text);
  // As upstream, the value in the message is the annotation's key.
  if (problem !== '') return [invalid(field, tolerationsAnnotation, problem)];
  const read = readTolerations(JSON.parse(text));
  return typeof read === 'string'
    ? [invalid(field, tolerationsAnnotation, read)]
    : validateTolerations(read, `${field}.${tolerationsAnnotation}`);
}

/** The tolerations, or Go's error for the first mismatch. */
function readTolerations(value: unknown): readonly Toleration[] | string {
  if (value === null) return [];
  if (!Array.isArray(value)) return mismatch(value, 'value of type []core.Toleration');
  const problems = value.flatMap(itemProblems);
  return problems[0] ?? value.map(toToleration);
}

function itemProblems(item: unknown): readonly string[] {
  if (item === null) return [];
  if (typeof item !== 'object' || Array.isArray(item)) {
    return [mismatch(item, 'value of type core.Toleration')];
  }
  return Object.entries(item).flatMap(([key, value]) => {
    const [name, type] = goTypes[key.toLowerCase()] ?? [];
    if (name === undefined || value === null) return [];
    const fits = type === 'int64' ? Number.isInteger(value) : typeof value === 'string';
    return fits ? [] : [mismatch(value, `struct field Toleration.${name} of type ${type}`)];
  });
}

function toToleration(item: object | null): Toleration {
  const entries = Object.entries(item ?? {}).filter(([, value]) => value !== null);
  const lower = Object.fromEntries(entries.map(([key, value]) => [key.toLowerCase(), value]));
  const { tolerationseconds: tolerationSeconds, ...rest } = lower;
  return { ...rest, ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }) };
}

function mismatch(value: unknown, into: string): string {
  return `json: cannot unmarshal ${goKind(value)} into Go ${into}`;
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number' && !Number.isInteger(value)) return `number ${value}`;
  return typeof value;
}
