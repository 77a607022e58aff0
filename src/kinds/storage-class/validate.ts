import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../meta/field-error.ts';
import { validateLabelName } from '../../meta/labels.ts';
import { qualifiedName } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import { immutableField } from '../immutable-field.ts';
import { invalidEach } from '../pod/field-rules.ts';
import type { StorageClass, TopologySelectorTerm } from './types.ts';

const reclaimPolicies = ['Delete', 'Retain'];
const bindingModes = ['Immediate', 'WaitForFirstConsumer'];
/** Upstream's limits. */
const maxParameters = 512;
const maxParametersSize = 256 * 1024;

export function validateStorageClass(storage: StorageClass): readonly FieldError[] {
  const { provisioner, parameters = {}, reclaimPolicy = '', volumeBindingMode } = storage;
  return [
    ...validateProvisioner(provisioner, 'provisioner'),
    ...validateParameters(parameters, 'parameters'),
    ...(reclaimPolicy === '' || reclaimPolicies.includes(reclaimPolicy)
      ? []
      : [notSupported('reclaimPolicy', reclaimPolicy, reclaimPolicies)]),
    ...(volumeBindingMode === undefined
      ? [required('volumeBindingMode')]
      : bindingModes.includes(volumeBindingMode)
        ? []
        : [notSupported('volumeBindingMode', volumeBindingMode, bindingModes)]),
    ...validateTopologies(storage.allowedTopologies ?? [], 'allowedTopologies'),
  ];
}

function validateProvisioner(provisioner: string, field: string): readonly FieldError[] {
  const name = provisioner.toLowerCase();
  return name === '' ? [required(field)] : invalidEach(field, name, qualifiedName(name));
}

function validateParameters(
  parameters: Readonly<Record<string, string>>,
  field: string,
): readonly FieldError[] {
  const entries = Object.entries(parameters);
  if (entries.length > maxParameters) return [tooLong(field, maxParameters)];
  const size = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  );
  return [
    ...(Object.hasOwn(parameters, '') ? [invalid(field, '', 'field can not be empty.')] : []),
    ...(size > maxParametersSize ? [tooLong(field, maxParametersSize)] : []),
  ];
}

function validateTopologies(
  terms: readonly TopologySelectorTerm[],
  field: string,
): readonly FieldError[] {
  const seen = new Set<string>();
  return terms.flatMap((term, index) => {
    const at = `${field}[${index}].matchLabelExpressions`;
    const meaning = meaningOf(term);
    // A term without expressions counts as a repetition, as upstream.
    const isRepeated = meaning === '[]' || seen.has(meaning);
    seen.add(meaning);
    return [...validateExpressions(term, at), ...(isRepeated ? [duplicate(at, '')] : [])];
  });
}

/** Equal for terms that select the same, whatever their order. */
function meaningOf({ matchLabelExpressions = [] }: TopologySelectorTerm): string {
  const meanings = new Map(
    matchLabelExpressions.map(({ key, values }) => [key, [...new Set(values ?? [])].sort()]),
  );
  return JSON.stringify([...meanings].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function validateExpressions(
  { matchLabelExpressions = [] }: TopologySelectorTerm,
  field: string,
): readonly FieldError[] {
  const keys = new Set<string>();
  return matchLabelExpressions.flatMap(({ key, values }, index) => {
    const at = `${field}[${index}]`;
    const isRepeated = keys.has(key);
    keys.add(key);
    return [
      ...validateValues(values ?? [], `${at}.values`),
      ...validateLabelName(key, `${at}.key`),
      ...(isRepeated ? [duplicate(`${at}.key`, key)] : []),
    ];
  });
}

function validateValues(values: readonly string[], field: string): readonly FieldError[] {
  const seen = new Set<string>();
  if (values.length === 0) return [required(field)];
  return values.flatMap((value, index) => {
    if (seen.has(value)) return [duplicate(`${field}[${index}]`, value)];
    seen.add(value);
    return [];
  });
}

export function validateStorageClassUpdate(
  before: StorageClass,
  after: StorageClass,
): readonly FieldError[] {
  const fixed = ['parameters', 'provisioner', 'reclaimPolicy'] as const;
  return [
    ...validateStorageClass(after),
    ...fixed.flatMap((field) =>
      deepEqual(before[field], after[field])
        ? []
        : [forbidden(field, `updates to ${field} are forbidden.`)],
    ),
    ...immutableField({
      field: 'volumeBindingMode',
      before: before.volumeBindingMode,
      after: after.volumeBindingMode,
    }),
  ];
}
