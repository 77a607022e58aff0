import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
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
    });
    assert.deepEqual(admissionPlugins, {
      enable: ['ServiceAccount', 'DenyServiceExternalIPs'],
      disable: [],
    });
  } finally {
    await rm(dataDir, { recursive: true });
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
    assert.throws(() => seconds(text), /is not a length of time/);
  });
}

test('days() takes whole days that a certificate can have', () => {
  assert.equal(days('1'), 1);
  assert.equal(days('3650'), 3650);
  for (const text of ['0', '3651', '-1', '1.5', '', 'x']) assert.throws(() => days(text));
});
