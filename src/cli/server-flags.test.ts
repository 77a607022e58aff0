import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { World } from '../flags/command.ts';
import { run } from './main.ts';

const root = mkdtempSync(join(tmpdir(), 'fairlead-start-'));
after(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, 'folder'));
writeFileSync(join(root, 'tokens'), 'only-a-token\n');

async function start(...flags: readonly string[]): Promise<{ code: number; err: string }> {
  let err = '';
  const world: World = {
    write: () => {},
    writeError: (text) => {
      err += text;
    },
    env: {},
    cwd: () => root,
    now: () => Date.now(),
    startedAt: Date.now(),
    interrupted: AbortSignal.abort(),
  };
  const usual = ['--bind-address', '127.0.0.1', '--secure-port', '0', '--log-level', 'silent'];
  const code = await run(['apiserver', ...usual, '--data-dir', 'a/data', ...flags], world);
  return { code, err };
}

// A server that went on listening would keep this file from ending.
const failures: Readonly<Record<string, [flags: readonly string[], said: RegExp]>> = {
  'a kubeconfig that cannot be written': [
    ['--write-kubeconfig', 'folder'],
    /Cannot write ".*folder": .* Name another file with --write-kubeconfig\./,
  ],
  'an address of another machine': [
    ['--bind-address', '192.0.2.77'],
    /Cannot listen on 192\.0\.2\.77:0: this machine has no such address/,
  ],
  'a damaged token file': [['--token-auth-file', 'tokens'], /line 1: must have at least 3 columns/],
  'an audit policy that is not there': [
    ['--audit-log-path', '-', '--audit-policy-file', 'nowhere'],
    /Cannot read the audit policy/,
  ],
};
for (const [what, [flags, said]] of Object.entries(failures)) {
  test(`a first start with ${what} reports it, exits with 2 and leaves no files`, async () => {
    const { code, err } = await start(...flags);
    assert.match(err, said);
    assert.equal(code, 2);
    assert.equal(existsSync(join(root, 'a')), false);
  });
}

test('a failed start leaves existing data unchanged', async () => {
  assert.deepEqual(await start(), { code: 0, err: '' });
  const { code } = await start('--write-kubeconfig', 'folder');
  assert.equal(code, 2);
  assert.ok(existsSync(join(root, 'a', 'data', 'pki', 'ca.key')));
  assert.deepEqual(await start(), { code: 0, err: '' });
});
