import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionText } from './client-flags.ts';

const failures: Readonly<Record<string, [code: string, said: RegExp]>> = {
  'a refused connection': [
    'ECONNREFUSED',
    /^The connection to the server 10\.0\.0\.1:6443 was refused/,
  ],
  'a damaged certificate': [
    'ERR_OSSL_PEM_NO_START_LINE',
    /key of the kubeconfig is damaged \(what\)/,
  ],
  'an unknown authority': ['SELF_SIGNED_CERT_IN_CHAIN', /what; the kubeconfig names no authority/],
  'anything else': ['EHOSTUNREACH', /^Unable to connect to the server: what$/],
};
for (const [what, [code, said]] of Object.entries(failures)) {
  test(`connectionText() explains ${what}`, () => {
    const error = Object.assign(new Error('what'), { code });
    assert.match(connectionText(error, 'https://10.0.0.1:6443') ?? '', said);
  });
}

test('connectionText() ignores errors other than connection failures', () => {
  assert.equal(connectionText(new Error('what'), 'https://10.0.0.1:6443'), undefined);
});
