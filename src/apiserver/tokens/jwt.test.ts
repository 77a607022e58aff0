import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { isSignedBy, readJwt, signJwt } from './jwt.ts';
import { makeSigningKey, parseSigningKey, type SigningKey } from './signing-key.ts';

const { privateKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const keys: readonly SigningKey[] = [
  makeSigningKey(),
  parseSigningKey(String(rsa.export({ type: 'pkcs8', format: 'pem' })), 'k'),
];

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const isGood = (key: SigningKey, token: string): boolean => {
  const jwt = readJwt(token);
  return jwt !== undefined && isSignedBy(key, jwt);
};

for (const key of keys) {
  const token = signJwt(key, { a: 'ä' });
  const [head = '', body = '', signature = ''] = token.split('.');

  test(`readJwt() reads what signJwt() wrote with ${key.algorithm}`, () => {
    const jwt = readJwt(token);
    assert.deepEqual(jwt?.header, { alg: key.algorithm, kid: key.id });
    assert.deepEqual(jwt.claims, { a: 'ä' });
    assert.ok(isSignedBy(key, jwt));
  });

  const forgeries: Readonly<Record<string, string>> = {
    'other claims': `${head}.${part({ a: 'b' })}.${signature}`,
    'another header': `${part({ alg: key.algorithm, kid: 'x' })}.${body}.${signature}`,
    'another signature': `${head}.${body}.${signature.slice(0, -6)}AAAAAA`,
    'a short signature': `${head}.${body}.AAAA`,
    'no algorithm': `${part({ alg: 'none' })}.${body}.AAAA`,
    'demands that are not understood': signWithHeader(key, { crit: ['b64'], b64: false }),
    'a secret made of the public key': hmac(key, body),
  };
  for (const [title, forged] of Object.entries(forgeries)) {
    test(`isSignedBy() refuses ${title} with ${key.algorithm}`, () => {
      assert.equal(isGood(key, forged), false);
    });
  }
}

function signWithHeader(key: SigningKey, more: object): string {
  const [, body = '', signature = ''] = signJwt(key, {}).split('.');
  return `${part({ alg: key.algorithm, ...more })}.${body}.${signature}`;
}

function hmac(key: SigningKey, body: string): string {
  const signed = `${part({ alg: 'HS256' })}.${body}`;
  const secret = key.publicKey.export({ type: 'spki', format: 'pem' });
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

test('isSignedBy() refuses what another key signed', () => {
  assert.equal(isGood(makeSigningKey(), signJwt(makeSigningKey(), {})), false);
});

for (const text of [
  '',
  'a',
  'a.b',
  'a.b.c',
  'e30.e30.',
  'e30.W10.AA',
  'e30=.e30.AA',
  'e30.e30.A+',
]) {
  test(`readJwt() does not take "${text}" for a token`, () => {
    assert.equal(readJwt(text), undefined);
  });
}

test('readJwt() does not read what is too long', () => {
  assert.equal(readJwt(`e30.e30.${'A'.repeat(20_000)}`), undefined);
});
