import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ensureSigningKey, parseSigningKey } from './signing-key.ts';

async function inDirectory(act: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'signing-key-'));
  try {
    await act(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

test('ensureSigningKey() makes a key for its owner only, and finds it again', () =>
  inDirectory(async (directory) => {
    const made = await ensureSigningKey(directory);
    assert.equal(made.algorithm, 'ES256');
    assert.deepEqual(await readdir(directory), ['sa.key']);
    assert.equal((await stat(join(directory, 'sa.key'))).mode & 0o777, 0o600);
    assert.equal((await ensureSigningKey(directory)).id, made.id);
  }));

test('ensureSigningKey() says what a damaged file needs', () =>
  inDirectory(async (directory) => {
    await writeFile(join(directory, 'sa.key'), 'x');
    await assert.rejects(
      ensureSigningKey(directory),
      /Cannot read ".*sa\.key": the file is damaged/,
    );
  }));

const pem = (key: { export: (options: { type: 'pkcs8'; format: 'pem' }) => string | Buffer }) =>
  String(key.export({ type: 'pkcs8', format: 'pem' }));

test('parseSigningKey() takes RSA keys of others', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  assert.equal(parseSigningKey(pem(privateKey), 'k').algorithm, 'RS256');
});

test('parseSigningKey() takes no key that is too short or of another sort', () => {
  const refused = [
    generateKeyPairSync('rsa', { modulusLength: 1024 }),
    generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    generateKeyPairSync('ed25519'),
  ];
  for (const { privateKey } of refused) {
    assert.throws(() => parseSigningKey(pem(privateKey), 'k'), /Cannot sign tokens with "k"/);
  }
});
