import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultSecret } from './defaults.ts';
import { secretWarnings } from './warnings.ts';

const pem = (type: string) => `-----BEGIN ${type}-----\nAAAA\n-----END ${type}-----\n`;
const certificate = pem('CERTIFICATE');
const key = pem('EC PRIVATE KEY');

const cases: readonly [string, string, string, readonly string[]][] = [
  ['both', certificate, key, []],
  ['nothing', '', '', ['tls: failed to find any PEM data in certificate input']],
  ['no key', certificate, 'x', ['tls: failed to find any PEM data in key input']],
  [
    'both switched',
    key,
    certificate,
    [
      'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
    ],
  ],
  [
    'two certificates',
    certificate,
    certificate,
    ['tls: found a certificate rather than a key in the PEM for the private key'],
  ],
];

for (const [name, crt, secretKey, want] of cases) {
  test(`secretWarnings() of a TLS secret with ${name}`, () => {
    const secret = defaultSecret({
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: { name: 'a' },
      stringData: { 'tls.crt': crt, 'tls.key': secretKey },
      type: 'kubernetes.io/tls',
    });
    assert.deepEqual(secretWarnings(secret), want);
  });
}
