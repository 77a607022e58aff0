import { type FieldError, forbidden, required, tooLong } from '../../meta/field-error.ts';
import { deepEqual } from '../../schema/equality.ts';
import { base64Bytes, maxDataBytes } from '../config-map/data-size.ts';
import { frozenDetail, validateDataKey } from '../config-map/validate.ts';
import { immutableField } from '../immutable-field.ts';
import { type Secret, tlsSecretType } from './types.ts';
import { validateDockerConfig } from './validate-docker-config.ts';

const serviceAccountAnnotation = 'kubernetes.io/service-account.name';

export function validateSecret(secret: Secret): readonly FieldError[] {
  const data = secret.data ?? {};
  return [
    ...Object.keys(data).flatMap((key) => validateDataKey(key, 'data')),
    ...(base64Bytes(Object.values(data)) > maxDataBytes ? [tooLong('data', maxDataBytes)] : []),
    ...validateType(secret, data),
  ];
}

export function validateSecretUpdate(before: Secret, after: Secret): readonly FieldError[] {
  return [
    ...immutableField({ field: 'type', before: before.type, after: after.type }),
    ...validateFrozen(before, after),
    ...validateSecret(after),
  ];
}

function validateFrozen(before: Secret, after: Secret): readonly FieldError[] {
  if (before.immutable !== true) return [];
  return [
    ...(after.immutable === true ? [] : [forbidden('immutable', frozenDetail)]),
    ...(deepEqual(before.data, after.data) ? [] : [forbidden('data', frozenDetail)]),
  ];
}

/** Required keys of the built-in types; other types have none. */
function validateType(
  { type, metadata }: Secret,
  data: Readonly<Record<string, string>>,
): readonly FieldError[] {
  switch (type) {
    case 'kubernetes.io/service-account-token':
      return metadata.annotations?.[serviceAccountAnnotation]
        ? []
        : [required(`metadata.annotations[${serviceAccountAnnotation}]`)];
    case 'kubernetes.io/dockercfg':
      return validateDockerConfig(data, '.dockercfg');
    case 'kubernetes.io/dockerconfigjson':
      return validateDockerConfig(data, '.dockerconfigjson');
    case 'kubernetes.io/basic-auth':
      return Object.hasOwn(data, 'username') || Object.hasOwn(data, 'password')
        ? []
        : [required('data[username]'), required('data[password]')];
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : [required('data[ssh-privatekey]')];
    case tlsSecretType:
      return ['tls.crt', 'tls.key']
        .filter((key) => !Object.hasOwn(data, key))
        .map((key) => required(`data[${key}]`));
    default:
      return [];
  }
}
