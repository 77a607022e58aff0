// Environment variables and the sources of their values.
import { type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import {
  configMapKey,
  dns1123Subdomain,
  qualifiedName,
  relaxedEnvVarName,
} from '../../meta/names.ts';
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
const amounts = ['cpu', 'ephemeral-storage', 'memory'];
const amountFields = ['limits', 'requests'].flatMap((kind) => amounts.map((of) => `${kind}.${of}`));
const subscripted = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/;

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
        ? [invalid(at, '', 'must specify one of: `configMapRef` or `secretRef`')]
        : []),
      ...(count > 1
        ? [invalid(at, '', 'may not have more than one field specified at a time')]
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
    ...validateFilled(`${field}.name`, selector.name),
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

/** A path into the pod; `allowed` are those that make sense at this place. */
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
  const [, map, key = ''] = subscripted.exec(fieldPath) ?? [];
  if (map !== undefined) {
    const annotation = map === 'metadata.annotations';
    return invalidEach(at, key, qualifiedName(annotation ? key.toLowerCase() : key));
  }
  if (!envFields.includes(fieldPath) && !otherFields.includes(fieldPath)) {
    const why = `error converting fieldPath: field label not supported: ${fieldPath}`;
    return [invalid(at, fieldPath, why)];
  }
  return allowed.includes(fieldPath) ? [] : [notSupported(at, fieldPath, allowed)];
}

export function validateResourceFieldRef(
  selector: ResourceFieldSelector,
  inVolume: boolean,
  field: string,
): readonly FieldError[] {
  if (inVolume && !selector.containerName) return [required(`${field}.containerName`)];
  const { resource } = selector;
  if (resource === '') return [required(`${field}.resource`)];
  const known = amountFields.includes(resource) || /^(limits|requests)\.hugepages-/.test(resource);
  return known ? [] : [notSupported(`${field}.resource`, resource, amountFields)];
}
