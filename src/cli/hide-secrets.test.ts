import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutSecrets } from './hide-secrets.ts';

const cases: readonly (readonly [string, string | undefined])[] = [
  [
    'node --join https://a:1 --token abcdef.0123456789abcdef',
    'node --join https://a:1 --token abcdef.***',
  ],
  ['node --token=abcdef.0123456789abcdef --port 1', 'node --token=abcdef.*** --port 1'],
  ['kubeconfig --token s3cret -o f', 'kubeconfig --token *** -o f'],
  ['token delete abcdef.0123456789abcdef', 'token delete abcdef.***'],
  ['token delete abcdef', undefined],
  ['node --token-file f --data-dir d', undefined],
  ['get pods', undefined],
];
for (const [line, wanted] of cases) {
  test(`withoutSecrets() of "${line}"`, () => {
    assert.equal(withoutSecrets(line.split(' '))?.join(' '), wanted);
  });
}
