import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aescbc, aesgcm, type Cipher, secretbox } from './ciphers.ts';
import { Unreadable } from './unreadable.ts';

const key = (bytes: number): Buffer => Buffer.alloc(bytes, 7);
const path = '/registry/secrets/default/a';
const plain = Buffer.from('{"kind":"Secret"}');

const all: readonly (readonly [string, Cipher])[] = [
  ...[16, 24, 32].map((bytes) => [`aescbc() of ${bytes} bytes`, aescbc(key(bytes))] as const),
  ...[16, 24, 32].map((bytes) => [`aesgcm() of ${bytes} bytes`, aesgcm(key(bytes))] as const),
  ['secretbox()', secretbox(key(32))],
];

for (const [name, cipher] of all) {
  test(`${name} opens what it sealed, and never seals alike`, () => {
    for (const value of [plain, Buffer.alloc(0), Buffer.alloc(100_000, 'é')]) {
      const sealed = cipher.seal(value, path);
      assert.deepEqual(Buffer.from(cipher.open(sealed, path)), value);
      assert.notDeepEqual(cipher.seal(value, path), sealed);
    }
  });

  test(`${name} refuses every length that it was cut to, and what was changed where it is authenticated`, () => {
    const sealed = Buffer.from(cipher.seal(plain, path));
    for (let length = 0; length < sealed.length; length += 1) {
      if (!cipher.isAuthenticated && length === 16) continue;
      assert.throws(() => cipher.open(sealed.subarray(0, length), path), Unreadable);
    }
    for (let at = 0; cipher.isAuthenticated && at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      assert.throws(() => cipher.open(changed, path), Unreadable);
    }
  });
}

test('aesgcm() refuses a value that was copied to another key', () => {
  const cipher = aesgcm(key(32));
  const sealed = cipher.seal(plain, path);
  assert.throws(() => cipher.open(sealed, '/registry/secrets/default/b'), {
    message: 'cipher: message authentication failed',
  });
});

test('aescbc() opens what OpenSSL encrypted', () => {
  // printf '{"kind":"Secret"}' | openssl enc -aes-256-cbc -K 0707…07 -iv 0101…01
  const ciphertext = '7c264f617787e656daeb37af3ede9f152ee1fe940990e271827b393e93c5196b';
  const sealed = Buffer.concat([Buffer.alloc(16, 1), Buffer.from(ciphertext, 'hex')]);
  assert.deepEqual(Buffer.from(aescbc(key(32)).open(sealed, path)), plain);
});

test('secretbox() opens the test vector of NaCl', () => {
  const hex = (text: string): Buffer => Buffer.from(text, 'hex');
  const secret = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389');
  const nonce = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37');
  const message = hex(
    'be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705',
  );
  const box = hex(
    'f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5',
  );
  const opened = secretbox(secret).open(Buffer.concat([nonce, box]), path);
  assert.deepEqual(Buffer.from(opened), message);
});
