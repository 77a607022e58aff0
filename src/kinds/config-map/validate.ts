import { type FieldError, forbidden, invalid, tooLong } from '../../meta/field-error.ts';
import { configMapKey } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import { base64Bytes, maxDataBytes, textBytes } from './data-size.ts';
import type { ConfigMap } from './types.ts';

export const frozenDetail = 'field is immutable when `immutable` is set';

export function validateConfigMap(configMap: ConfigMap): readonly FieldError[] {
  const { data = {}, binaryData = {} } = configMap;
  const size = textBytes(Object.values(data)) + base64Bytes(Object.values(binaryData));
  return [
    ...Object.keys(data).flatMap((key) => [
      ...validateDataKey(key, 'data'),
      ...(Object.hasOwn(binaryData, key)
        ? [invalid(`data[${key}]`, key, 'duplicate of key present in binaryData')]
        : []),
    ]),
    ...Object.keys(binaryData).flatMap((key) => validateDataKey(key, 'binaryData')),
    // The error concerns the whole object; this is its path in Kubernetes.
    ...(size > maxDataBytes ? [tooLong('[]', maxDataBytes)] : []),
  ];
}

export function validateConfigMapUpdate(
  before: ConfigMap,
  after: ConfigMap,
): readonly FieldError[] {
  return [...validateFrozen(before, after), ...validateConfigMap(after)];
}

function validateFrozen(before: ConfigMap, after: ConfigMap): readonly FieldError[] {
  if (before.immutable !== true) return [];
  return [
    ...(after.immutable === true ? [] : [forbidden('immutable', frozenDetail)]),
    ...(deepEqual(before.data, after.data) ? [] : [forbidden('data', frozenDetail)]),
    ...(deepEqual(before.binaryData, after.binaryData)
      ? []
      : [forbidden('binaryData', frozenDetail)]),
  ];
}

export function validateDataKey(key: string, field: string): readonly FieldError[] {
  return configMapKey(key).map((detail) => invalid(`${field}[${key}]`, key, detail));
}
