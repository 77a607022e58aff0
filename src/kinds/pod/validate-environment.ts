// Environment variables and their sources.
import { type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import {
  configMapKey,
  dns1123Subdomain,
  qualifiedName,
  relaxedEnvVarName,
} from '../../meta/names.ts';
import { compareQuantities } from '../../schema/quantity.ts';
import type {
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
  KeySelector,
  ObjectFieldSelector,
  ResourceFieldSelector,
} from './environment.ts';
import { invalidEach, validateFilled } from './field-rules.ts';

const envFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const otherFields = [
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
];
const quantities = ['cpu', 'ephemeral-storage', 'memory'];
const quantityFields = ['limits', 'requests'].flatMap((kind) =>
  quantities.map((of) => `${kind}.${of}`),
);

export function validateEnv(env: readonly EnvVar[], field: string): readonly FieldError[] {
  return env.flatMap((variable, index) => {
    const at = `${field}[${index}]`;
    const name =
      variable.name === ''
        ? [required(`${at}.name`)]
        : invalidEach(`${at}.name`, variable.name, relaxedEnvVarName(variable.name));
    return [...name, ...validateValueFrom(variable, `${at}.valueFrom`)];
  });
}

export function validateEnvFrom(
  sources: readonly EnvFromSource[],
  field: string,
): readonly FieldError[] {
  return sources.flatMap((source, index) => {
    const at = `${field}[${index}]`;
    const { prefix = '', configMapRef, secretRef } = source;
    const count = Number(configMapRef !== undefined) + Number(secretRef !== undefined);
    return [
      ...(prefix === '' ? [] : invalidEach(`${at}.prefix`, prefix, relaxedEnvVarName(prefix))),
      ...(configMapRef === undefined
        ? []
        : validateSourceName(configMapRef.name, `${at}.configMapRef`)),
      ...(secretRef === undefined ? [] : validateSourceName(secretRef.name, `${at}.secretRef`)),
      ...(count === 0
        ? [invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`')]
        : []),
      ...(count > 1
        ? [invalid(field, '', 'may not have more than one field specified at a time')]
        : []),
    ];
  });
}

function validateSourceName(name: string | undefined, field: string): readonly FieldError[] {
  if (!name) return [required(`${field}.name`)];
  return invalidEach(`${field}.name`, name, dns1123Subdomain(name));
}

function validateValueFrom(variable: EnvVar, field: string): readonly FieldError[] {
  const source = variable.valueFrom;
  if (source === undefined) return [];
  const count = Object.values(source).filter((value) => value !== undefined).length;
  return [...validateSources(source, field), ...validateCount(count, variable.value ?? '', field)];
}

function validateSources(source: EnvVarSource, field: string): readonly FieldError[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  return [
    ...(fieldRef === undefined ? [] : validateFieldRef(fieldRef, envFields, `${field}.fieldRef`)),
    ...(resourceFieldRef === undefined
      ? []
      : validateResourceFieldRef(resourceFieldRef, false, `${field}.resourceFieldRef`)),
    ...(configMapKeyRef === undefined
      ? []
      : validateKeyRef(configMapKeyRef, `${field}.configMapKeyRef`)),
    ...(secretKeyRef === undefined ? [] : validateKeyRef(secretKeyRef, `${field}.secretKeyRef`)),
    ...(fileKeyRef === undefined ? [] : validateFileKeyRef(fileKeyRef, `${field}.fileKeyRef`)),
  ];
}

function validateCount(count: number, value: string, field: string): readonly FieldError[] {
  if (count === 0) {
    const choices =
      '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
    return [invalid(field, '', `must specify one of: ${choices}`)];
  }
  if (value !== '') return [invalid(field, '', 'may not be specified when `value` is not empty')];
  return count > 1
    ? [invalid(field, '', 'may not have more than one field specified at a time')]
    : [];
}

function validateKeyRef(selector: KeySelector, field: string): readonly FieldError[] {
  return [
    ...invalidEach(`${field}.name`, selector.name ?? '', dns1123Subdomain(selector.name ?? '')),
    ...(selector.key === ''
      ? [required(`${field}.key`)]
      : invalidEach(`${field}.key`, selector.key, configMapKey(selector.key))),
  ];
}

function validateFileKeyRef(selector: FileKeySelector, field: string): readonly FieldError[] {
  return [
    ...validateFilled(`${field}.key`, selector.key),
    ...validateFilled(`${field}.volumeName`, selector.volumeName),
    ...validateFilled(`${field}.path`, selector.path),
  ];
}

/** A field path; `allowed` are the paths that are valid here. */
export function validateFieldRef(
  selector: ObjectFieldSelector,
  allowed: readonly string[],
  field: string,
): readonly FieldError[] {
  const { apiVersion = '', fieldPath } = selector;
  if (apiVersion === '') return [required(`${field}.apiVersion`)];
  if (fieldPath === '') return [required(`${field}.fieldPath`)];
  const at = `${field}.fieldPath`;
  if (apiVersion !== 'v1') {
    return [
      invalid(at, fieldPath, `error converting fieldPath: unsupported pod version: ${apiVersion}`),
    ];
  }
  const [map, subscript = ''] = splitSubscript(fieldPath);
  if (map === 'metadata.annotations' || map === 'metadata.labels') {
    const key = map === 'metadata.annotations' ? subscript.toLowerCase() : subscript;
    return invalidEach(field, key, qualifiedName(key));
  }
  if (map !== undefined) {
    const why = `error converting fieldPath: field label does not support subscript: ${fieldPath}`;
    return [invalid(at, fieldPath, why)];
  }
  if (!envFields.includes(fieldPath) && !otherFields.includes(fieldPath)) {
    const why = `error converting fieldPath: field label not supported: ${fieldPath}`;
    return [invalid(at, fieldPath, why)];
  }
  return allowed.includes(fieldPath) ? [] : [notSupported(at, fieldPath, allowed)];
}

/** `metadata.labels['a']` as its two parts; undefined for other forms. */
function splitSubscript(path: string): readonly [path?: string, subscript?: string] {
  const at = path.indexOf("['");
  return path.endsWith("']") && at > 0 ? [path.slice(0, at), path.slice(at + 2, -2)] : [];
}

export function validateResourceFieldRef(
  selector: ResourceFieldSelector,
  inVolume: boolean,
  field: string,
): readonly FieldError[] {
  return [
    ...validateResourceField(selector, inVolume, field),
    ...validateDivisor(selector, `${field}.divisor`),
  ];
}

function validateResourceField(
  { containerName, resource }: ResourceFieldSelector,
  inVolume: boolean,
  field: string,
): readonly FieldError[] {
  if (inVolume && !containerName) return [required(`${field}.containerName`)];
  if (resource === '') return [required(`${field}.resource`)];
  const isKnown = quantityFields.includes(resource) || hugePages.test(resource);
  return isKnown ? [] : [notSupported(`${field}.resource`, resource, quantityFields)];
}

const hugePages = /^(limits|requests)\.hugepages-/;
const byteDivisors = ['1', '1k', '1M', '1G', '1T', '1P', '1E'].concat([
  '1Ki',
  '1Mi',
  '1Gi',
  '1Ti',
  '1Pi',
  '1Ei',
]);

/** Messages show the resource, not the divisor. */
function validateDivisor(
  { resource, divisor }: ResourceFieldSelector,
  field: string,
): readonly FieldError[] {
  const of = quantityFields.includes(resource) ? resource.slice(resource.indexOf('.') + 1) : '';
  const what =
    { cpu: 'cpu', memory: 'memory', 'ephemeral-storage': 'local ephemeral storage' }[of] ??
    (hugePages.test(resource) ? 'hugepages' : undefined);
  if (what === undefined || compareQuantities(divisor, '0') === 0) return [];
  const allowed = what === 'cpu' ? ['1m', '1'] : byteDivisors;
  const text = what === 'cpu' ? '1m and 1' : byteDivisors.join(', ');
  const detail = `only divisor's values ${text} are supported with the ${what} resource`;
  return allowed.includes(divisor) ? [] : [invalid(field, resource, detail)];
}
