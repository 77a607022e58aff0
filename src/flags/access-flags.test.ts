import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Command, CommanderError } from 'commander';
import { type AccessFlags, accessOptions, addAccessFlags } from './access-flags.ts';
import { days, seconds } from './parse-flags.ts';

function flagsOf(...args: readonly string[]): AccessFlags {
  const command = addAccessFlags(new Command()).exitOverride();
  command.configureOutput({ writeErr: () => {} });
  return command.parse([...args], { from: 'user' }).opts();
}

test('accessOptions() makes the options of the server, with a key in the data directory', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'access-flags-'));
  try {
    const flags = flagsOf(
      ...['--token-auth-file', 'tokens.csv', '--api-audiences', 'a, b'],
      ...['--enable-admission-plugins', 'ServiceAccount,DenyServiceExternalIPs'],
    );
    await mkdir(join(dataDir, 'pki'));
    const made = await accessOptions(flags, { dataDir, cwd: '/somewhere' });
    const { tokens, admissionPlugins } = made;
    const { signingKey, ...rest } = tokens;
    assert.equal(signingKey?.algorithm, 'ES256');
    assert.deepEqual(rest, {
      issuer: 'https://kubernetes.default.svc.cluster.local',
      audiences: ['a', 'b'],
      file: '/somewhere/tokens.csv',
      verificationKeys: [],
    });
    assert.deepEqual(admissionPlugins, {
      enable: ['ServiceAccount', 'DenyServiceExternalIPs'],
      disable: [],
    });
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

test('accessOptions() takes a new signing key, and the old ones for checking', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'access-flags-'));
  try {
    const [fresh, old, other] = [1, 2, 3].map(() =>
      generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    );
    const files: Readonly<Record<string, KeyObject | undefined>> = {
      'new.key': fresh?.privateKey,
      'old.key': old?.privateKey,
      'other.pub': other?.publicKey,
    };
    for (const [name, key] of Object.entries(files)) {
      const type = key?.type === 'public' ? 'spki' : 'pkcs8';
      await writeFile(join(cwd, name), key?.export({ type, format: 'pem' }) ?? '');
    }
    const flags = flagsOf(
      ...['--service-account-signing-key-file', 'new.key'],
      ...['--service-account-key-file', 'old.key', '--service-account-key-file', 'other.pub'],
    );
    const { tokens } = await accessOptions(flags, { dataDir: cwd, cwd });
    assert.ok(fresh && tokens.signingKey?.publicKey.equals(fresh.publicKey));
    const [first, second] = tokens.verificationKeys ?? [];
    assert.ok(old && first?.publicKey.equals(old.publicKey));
    assert.ok(other && second?.publicKey.equals(other.publicKey));
    await writeFile(join(cwd, 'damaged'), 'no key');
    await mkdir(join(cwd, 'pki'));
    for (const name of ['missing', 'damaged']) {
      await assert.rejects(
        accessOptions(flagsOf('--service-account-key-file', name), { dataDir: cwd, cwd }),
        /^SigningKeyError: Cannot read "/,
      );
    }
  } finally {
    await rm(cwd, { recursive: true });
  }
});

const wrong: readonly (readonly string[])[] = [
  ['--service-account-issuer', 'me'],
  ['--service-account-issuer', 'http://me'],
  ['--api-audiences', ','],
  ['--enable-admission-plugins', 'Nonsense'],
  ['--disable-admission-plugins', ''],
];
for (const args of wrong) {
  test(`addAccessFlags() refuses ${args.join(' ')}`, () => {
    assert.throws(() => flagsOf(...args), CommanderError);
  });
}

const lengths: Readonly<Record<string, number>> = {
  '90s': 90,
  '10m': 600,
  '1h': 3600,
  '1h30m': 5400,
  '2d': 172_800,
};
for (const [text, expected] of Object.entries(lengths)) {
  test(`seconds() reads ${text}`, () => {
    assert.equal(seconds(text), expected);
  });
}

for (const text of ['', '10', '-10m', '1.5h', '10 m', 'h', '0s', 'x10m', '10mx']) {
  test(`seconds() refuses "${text}"`, () => {
    assert.throws(() => seconds(text), /is not a duration/);
  });
}

test('days() takes whole days that a certificate can have', () => {
  assert.equal(days('1'), 1);
  assert.equal(days('3650'), 3650);
  for (const text of ['0', '3651', '-1', '1.5', '', 'x']) assert.throws(() => days(text));
});
