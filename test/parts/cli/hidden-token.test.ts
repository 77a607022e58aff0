// Tokens are hidden from the process list, and not inherited by child processes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../lanes/running-server.ts';

const token = 'abcdef.0123456789abcdef';
const pin = `sha256:${'a'.repeat(64)}`;

test('a token on the command line is hidden while the program runs', {
  timeout: 60_000,
}, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'hidden-token-'));
  // Takes connections and says nothing: joining goes on until the test ends it.
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const child = spawn(
    process.execPath,
    [
      ...[join(root, 'bin', 'fairlead'), 'node', '--data-dir', 'd', '--node-name', 'n'],
      ...['--join', `https://127.0.0.1:${port}`, '--token', token],
      ...['--discovery-token-ca-cert-hash', pin],
    ],
    { cwd: directory, stdio: 'ignore' },
  );
  t.after(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    server.close();
    rmSync(directory, { recursive: true });
  });
  const [socket] = await once(server, 'connection');
  const shown = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  assert.match(shown, /^fairlead node --data-dir d .* --token abcdef\.\*\*\* /);
  assert.equal(shown.includes('0123456789abcdef'), false);
  socket.destroy();
});
