// `fairlead down` on an `up` that does not answer: one that hangs, and one that hangs while it starts.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ready, root } from '../../lanes/running-server.ts';
import { runCommand } from '../harness/run-command.ts';

const timeout = 120_000;
const directory = mkdtempSync(join(tmpdir(), 'fairlead-down-'));
after(() => rmSync(directory, { recursive: true, force: true }));

function start(data: string, flags: readonly string[]): ChildProcess {
  const up = ['up', '--network', 'none', '--secure-port', '0', '--data-dir', data, ...flags];
  // The directory is found from where `up` was started.
  return spawn(process.execPath, [join(root, 'bin', 'fairlead'), ...up], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

test('down kills an up that hangs, and purges its data', { timeout }, async () => {
  const child = start('hung', []);
  const exited = once(child, 'exit');
  await ready(child);
  child.kill('SIGSTOP');
  const { code, out, err } = await runCommand('down --data-dir hung --timeout 200ms', directory);
  assert.equal(code, 0, err);
  assert.match(out, /Killed process \d+: it did not end within 200ms\.\n$/);
  assert.deepEqual(await exited, [null, 'SIGKILL']);
  assert.ok(!existsSync(join(directory, 'hung', 'up.json')));
  const again = await runCommand('down --data-dir hung', directory);
  assert.deepEqual([again.code, again.err], [1, 'Nothing runs with the data in "hung".\n']);
  const purged = await runCommand('down --data-dir hung --purge', directory);
  assert.deepEqual([purged.code, existsSync(join(directory, 'hung'))], [0, false], purged.err);
});

test('down ends an up that has not finished its start', { timeout }, async () => {
  // An etcd that takes connections and says nothing.
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const connected = once(silent, 'connection');
  const { port } = silent.address() as AddressInfo;
  const child = start('half', ['--etcd-servers', `http://127.0.0.1:${port}`]);
  const exited = once(child, 'exit');
  const [socket] = await connected;
  assert.ok(!existsSync(join(directory, 'half', 'up.json')));
  const { code, out, err } = await runCommand('down --data-dir half --timeout 200ms', directory);
  assert.equal(code, 0, err);
  assert.match(out, /(Killed|Ended) process \d+/);
  await exited;
  socket.destroy();
  silent.close();
});
