import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { defaultSecret } from './defaults.ts';
import type { Secret } from './types.ts';
import { validateSecret, validateSecretUpdate } from './validate.ts';

function secret(fields: Partial<Secret>): Secret {
  return defaultSecret({
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name: 'a' },
    ...fields,
  });
}

test('defaultSecret() merges stringData into data', () => {
  const folded = secret({ data: { a: 'b2xk', b: 'Yg==' }, stringData: { a: 'new', c: 'ü' } });
  assert.deepEqual(Object.keys(folded), ['kind', 'apiVersion', 'metadata', 'data', 'type']);
  assert.deepEqual(folded.data, { a: 'bmV3', b: 'Yg==', c: 'w7w=' });
  assert.equal(folded.type, 'Opaque');
});

const redacted = 'Invalid value: "<secret contents redacted>":';
const cases: readonly [string, Partial<Secret>, readonly string[]][] = [
  ['no data', {}, []],
  ['a type of its own', { type: 'example.com/mine' }, []],
  [
    'too much data',
    { stringData: { a: 'x'.repeat(1024 * 1024 + 1) } },
    ['data: Too long: may not be more than 1048576 bytes'],
  ],
  [
    'a token without account',
    { type: 'kubernetes.io/service-account-token' },
    ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
  ],
  [
    'TLS without a key',
    { type: 'kubernetes.io/tls', stringData: { 'tls.crt': '' } },
    ['data[tls.key]: Required value'],
  ],
  [
    'basic auth without anything',
    { type: 'kubernetes.io/basic-auth' },
    ['data[username]: Required value', 'data[password]: Required value'],
  ],
  ['basic auth with one', { type: 'kubernetes.io/basic-auth', stringData: { username: '' } }, []],
  [
    'an empty key of ssh',
    { type: 'kubernetes.io/ssh-auth', data: { 'ssh-privatekey': '' } },
    ['data[ssh-privatekey]: Required value'],
  ],
  ['no registry', { type: 'kubernetes.io/dockercfg' }, ['data[.dockercfg]: Required value']],
  [
    'a registry that is no JSON',
    { type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': 'x' } },
    [`data[.dockercfg]: ${redacted} invalid character 'x' looking for beginning of value`],
  ],
  [
    'a registry that is no object',
    { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '[]' } },
    [
      `data[.dockerconfigjson]: ${redacted} json: cannot unmarshal array into Go value of type map[string]interface {}`,
    ],
  ],
];

for (const [name, fields, want] of cases) {
  test(`validateSecret() of ${name}`, () => {
    assert.deepEqual(validateSecret(secret(fields)).map(errorText), want);
  });
}

test('validateSecretUpdate() keeps the type, and the data of an immutable secret', () => {
  const before = secret({ immutable: true, stringData: { k: 'v' } });
  const after = secret({ type: 'other', stringData: { k: 'w' } });
  assert.deepEqual(validateSecretUpdate(before, after).map(errorText), [
    'type: Invalid value: "other": field is immutable',
    'immutable: Forbidden: field is immutable when `immutable` is set',
    'data: Forbidden: field is immutable when `immutable` is set',
  ]);
});
