import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isApiError } from '../../meta/api-error.ts';
import { decodeContinue, encodeContinue } from './continue-token.ts';

const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

for (const after of ['web', 'a/web', 'system:é日', 'a"b\\c']) {
  test(`decodeContinue() takes back what encodeContinue() made of "${after}"`, () => {
    assert.deepEqual(decodeContinue(encodeContinue({ revision: 7, after })), {
      revision: 7,
      after,
    });
  });
}

test('encodeContinue() writes the form of Kubernetes', () => {
  const text = Buffer.from(encodeContinue({ revision: 7, after: 'web' }), 'base64url').toString();
  assert.equal(text, '{"v":"meta.k8s.io/v1","rv":7,"start":"web\\u0000"}');
});

test('decodeContinue() knows tokens that ask for the present', () => {
  const token = encode({ v: 'meta.k8s.io/v1', rv: -1, start: 'web\0' });
  assert.deepEqual(decodeContinue(token), { revision: -1, after: 'web' });
});

const v = 'meta.k8s.io/v1';
const wrong: readonly [token: string, why: string][] = [
  ['abc', "invalid character 'i' looking for beginning of value"],
  ['!', 'illegal base64 data at input byte 0'],
  ['ab=c', 'illegal base64 data at input byte 2'],
  ['abcde', 'illegal base64 data at input byte 4'],
  [encode('{'), 'unexpected end of JSON input'],
  [encode('é'), "invalid character 'Ã' looking for beginning of value"],
  [encode({}), 'server does not recognize this encoded version '],
  [encode('null'), 'server does not recognize this encoded version '],
  [encode({ v: 'v9', rv: 1, start: 'a' }), 'server does not recognize this encoded version v9'],
  [encode({ v, start: 'a' }), `incorrect encoded start resourceVersion (version ${v})`],
  [encode({ v, rv: 0, start: 'a' }), `incorrect encoded start resourceVersion (version ${v})`],
  [encode({ v, rv: 1 }), `encoded start key empty (version ${v})`],
  [encode({ v, rv: 1, start: '' }), `encoded start key empty (version ${v})`],
  [encode({ v, rv: 1, start: '../a' }), '../a'],
  [encode({ v, rv: 1, start: 'a//b' }), 'a//b'],
];

for (const [token, why] of wrong) {
  test(`decodeContinue() refuses "${token}": ${why}`, () => {
    assert.throws(
      () => decodeContinue(token),
      (error) => {
        assert.ok(isApiError(error));
        assert.equal(error.status.code, 400);
        assert.equal(error.message, `invalid continue token: continue key is not valid: ${why}`);
        return true;
      },
    );
  });
}
