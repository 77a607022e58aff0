import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import type { ConfigMap } from './types.ts';
import { validateConfigMap, validateConfigMapUpdate } from './validate.ts';

function configMap(fields: Partial<ConfigMap>): ConfigMap {
  return { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, ...fields };
}

const key =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const mebibyte = 1024 * 1024;
const cases: readonly [string, Partial<ConfigMap>, readonly string[]][] = [
  ['no data', {}, []],
  ['a key with a space', { data: { 'a b': '' } }, [`data[a b]: Invalid value: "a b": ${key}`]],
  [
    'a key of dots',
    { binaryData: { '..': '' } },
    [`binaryData[..]: Invalid value: "..": must not be '..'`],
  ],
  [
    'a key in both',
    { data: { a: '' }, binaryData: { a: 'AA==' } },
    ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
  ],
  ['bytes that are null', { binaryData: { a: null as unknown as string } }, []],
  ['a mebibyte', { data: { a: 'x'.repeat(mebibyte) } }, []],
  [
    'more than a mebibyte, in bytes',
    { data: { a: 'ü'.repeat(mebibyte / 2) }, binaryData: { b: 'AA==' } },
    ['[]: Too long: may not be more than 1048576 bytes'],
  ],
];

for (const [name, fields, want] of cases) {
  test(`validateConfigMap() of ${name}`, () => {
    assert.deepEqual(validateConfigMap(configMap(fields)).map(errorText), want);
  });
}

const frozen = configMap({ immutable: true, data: { k: 'v' } });
const detail = 'Forbidden: field is immutable when `immutable` is set';
const updates: readonly [string, Partial<ConfigMap>, readonly string[]][] = [
  ['the same', { immutable: true, data: { k: 'v' } }, []],
  ['other data', { immutable: true, data: { k: 'w' } }, [`data: ${detail}`]],
  ['more binary data', { ...frozen, binaryData: { b: 'AA==' } }, [`binaryData: ${detail}`]],
  ['a thaw', { data: { k: 'v' } }, [`immutable: ${detail}`]],
];

for (const [name, fields, want] of updates) {
  test(`validateConfigMapUpdate() of ${name} of an immutable one`, () => {
    const errors = validateConfigMapUpdate(frozen, configMap(fields));
    assert.deepEqual(errors.map(errorText), want);
  });
}
