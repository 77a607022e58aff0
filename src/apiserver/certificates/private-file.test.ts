import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { PrivateFileError, readPrivateFile, writePrivateFile } from './private-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'fairlead-private-'));
after(() => rmSync(directory, { recursive: true }));

const key = '-----BEGIN PRIVATE KEY-----\n';
const cases: readonly (readonly [number, string, 'read' | 'refused'])[] = [
  [0o600, key, 'read'],
  [0o400, key, 'read'],
  [0o640, key, 'read'],
  [0o644, key, 'refused'],
  [0o604, key, 'refused'],
  [0o602, key, 'refused'],
  [0o620, key, 'refused'],
  [0o644, '-----BEGIN CERTIFICATE-----\n', 'read'],
];
for (const [mode, text, outcome] of cases) {
  test(`readPrivateFile() of mode 0${mode.toString(8)}, ${text.trim()}: ${outcome}`, async () => {
    const path = join(directory, 'file');
    rmSync(path, { force: true });
    writeFileSync(path, text);
    chmodSync(path, mode);
    if (outcome === 'read') assert.equal(await readPrivateFile(path), text);
    else await assert.rejects(readPrivateFile(path), PrivateFileError);
  });
}

test('readPrivateFile() refuses a key of another user, who can read it', {
  skip: process.geteuid?.() !== 0 && 'only root can give files away',
}, async () => {
  const path = join(directory, 'given-away');
  for (const text of ['-----BEGIN CERTIFICATE-----\n', key]) {
    writeFileSync(path, text, { mode: 0o600 });
    chownSync(path, 54_321, 0);
    if (text === key) await assert.rejects(readPrivateFile(path), /belongs to user 54321/);
    else assert.equal(await readPrivateFile(path), text);
  }
});

test('readPrivateFile() of nothing is undefined', async () => {
  assert.equal(await readPrivateFile(join(directory, 'absent')), undefined);
});

test('writePrivateFile() makes a file for its owner only, whatever the umask', async () => {
  const path = join(directory, 'written');
  const umask = process.umask(0);
  try {
    await writePrivateFile(path, key);
  } finally {
    process.umask(umask);
  }
  assert.equal(statSync(path).mode & 0o777, 0o600);
});
