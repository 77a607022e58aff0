// Everything that a server writes is for its owner only, with a umask that forbids nothing, and where others had left it open before.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openToOthers, withUmask } from '../../lanes/file-modes.ts';
import { root } from '../../lanes/running-server.ts';

const timeout = 120_000;
const directory = mkdtempSync(join(tmpdir(), 'fairlead-modes-'));
after(() => rmSync(directory, { recursive: true }));
const program = [process.execPath, join(root, 'bin', 'fairlead')];

type Started = { readonly child: ChildProcess; readonly err: () => string };

async function start(workDir: string, command: string, umask: string): Promise<Started> {
  const [file = '', ...args] = withUmask(umask, [
    ...[...program, ...command.split(' '), '--bind-address', '127.0.0.1', '--secure-port', '0'],
    ...['--data-dir', join(workDir, 'data'), '--write-kubeconfig', join(workDir, 'config')],
    ...['--audit-log-path', join(workDir, 'audit.log')],
  ]);
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stderr.on('data', (bytes: Buffer) => {
    err += String(bytes);
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (bytes: Buffer) => {
      out += String(bytes);
      if (/Ctrl-C|kubeconfig in/.test(out)) resolve();
    });
    child.once('exit', () => reject(new Error(`It ended: ${out}${err}`)));
  });
  return { child, err: () => err };
}

async function stop({ child }: Started): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function run(umask: string, argv: readonly string[]): Promise<void> {
  const [file = '', ...args] = withUmask(umask, [...program, ...argv]);
  const [code] = await once(spawn(file, args, { stdio: 'ignore' }), 'exit');
  assert.equal(code, 0, argv.join(' '));
}

for (const command of ['up --network none', 'apiserver']) {
  test(`${command} with umask 000 leaves nothing open to others`, { timeout }, async () => {
    const workDir = mkdtempSync(join(directory, 'umask-'));
    const server = await start(workDir, command, '000');
    try {
      assert.deepEqual(openToOthers(workDir), []);
      assert.equal(server.err().includes('open to other users'), false, server.err());
    } finally {
      await stop(server);
    }
    const data = ['--data-dir', join(workDir, 'data')];
    await run('000', ['storage', 'export', ...data, '-o', join(workDir, 'saved')]);
    const user = ['--user', 'jane', '--server', 'https://127.0.0.1:1'];
    await run('000', ['kubeconfig', ...data, ...user, '-o', join(workDir, 'jane')]);
    assert.deepEqual(openToOthers(workDir), []);
  });
}

test('what is open from before is closed, or warned of', { timeout }, async () => {
  const workDir = mkdtempSync(join(directory, 'open-'));
  const data = join(workDir, 'data');
  await stop(await start(workDir, 'up --network none', '022'));
  for (const name of ['data', 'data/store', 'data/pki']) chmodSync(join(workDir, name), 0o755);
  chmodSync(join(workDir, 'config'), 0o644);
  // What a killed process may have left.
  writeFileSync(join(data, 'up.json.new'), 'half', { mode: 0o666 });
  const server = await start(workDir, 'up --network none', '000');
  try {
    assert.deepEqual(openToOthers(workDir), ['0755 data']);
    const expected = `Warning: The data directory "${data}" is open to other users (mode 0755); run chmod 700 on it.\n`;
    assert.ok(server.err().includes(expected), server.err());
  } finally {
    await stop(server);
  }
});

test('openToOthers() sees files, directories and deep ones', () => {
  const workDir = mkdtempSync(join(directory, 'self-'));
  mkdirSync(join(workDir, 'a'), { mode: 0o700 });
  writeFileSync(join(workDir, 'a', 'b'), '', { mode: 0o600 });
  assert.deepEqual(openToOthers(workDir), []);
  chmodSync(join(workDir, 'a', 'b'), 0o640);
  assert.deepEqual(openToOthers(workDir), ['0640 a/b']);
  assert.equal(statSync(workDir).mode & 0o777, 0o700);
});
