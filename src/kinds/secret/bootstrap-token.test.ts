import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bootstrapTokenSecret,
  hasExpired,
  readBootstrapToken,
  splitToken,
} from './bootstrap-token.ts';
import type { Secret } from './types.ts';

const expiration = '2026-01-02T03:04:05Z';
const good = {
  id: 'abcdef',
  secret: '0123456789abcdef',
  usages: ['signing', 'authentication'],
  groups: ['system:bootstrappers:x'],
} as const;

/** As the server keeps it. */
function stored(
  changes: Readonly<Record<string, string>> = {},
  more: Partial<Secret> = {},
): Secret {
  const { stringData = {}, ...secret } = bootstrapTokenSecret({ ...good, expiration });
  const data = Object.entries({ ...stringData, ...changes }).map(
    ([key, text]) => [key, Buffer.from(text).toString('base64')] as const,
  );
  return { ...secret, data: Object.fromEntries(data), ...more };
}

test('readBootstrapToken() reads what bootstrapTokenSecret() writes', () => {
  const token = readBootstrapToken(stored());
  assert.deepEqual(token, { ...good, expires: Date.parse(expiration) });
  assert.ok(token);
  assert.equal(hasExpired(token, Date.parse(expiration) - 1), false);
  assert.equal(hasExpired(token, Date.parse(expiration)), true);
});

const bad: readonly (readonly [string, Secret])[] = [
  ['another type', stored({}, { type: 'Opaque' })],
  [
    'another namespace',
    stored({}, { metadata: { name: 'bootstrap-token-abcdef', namespace: 'a' } }),
  ],
  ['another name', stored({}, { metadata: { name: 'x', namespace: 'kube-system' } })],
  ['a short secret', stored({ 'token-secret': 'abc' })],
  ['an expiration that is no time', stored({ expiration: 'soon' })],
  ['a group outside of its own', stored({ 'auth-extra-groups': 'system:masters' })],
];
for (const [name, secret] of bad) {
  test(`a token with ${name} is ignored`, () => {
    assert.equal(readBootstrapToken(secret), undefined);
  });
}

test('a usage requires the value "true"', () => {
  const token = readBootstrapToken(stored({ 'usage-bootstrap-signing': 'yes' }));
  assert.deepEqual(token?.usages, ['authentication']);
});

test('splitToken() checks the form', () => {
  assert.deepEqual(splitToken('abcdef.0123456789abcdef'), { id: good.id, secret: good.secret });
  for (const text of ['abcdef', 'ABCDEF.0123456789abcdef', 'abcdef.0123456789abcdef0']) {
    assert.equal(splitToken(text), undefined, text);
  }
});
