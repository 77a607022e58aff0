// The recorded answers of CoreDNS, asked of the real binary: a hundred questions about a small cluster.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../parts/harness/free-port.ts';
import { root, startBinary } from './running-server.ts';

for (const flags of [[], ['--no-batches']]) {
  test(`recorded answers ${flags.join(' ')}`, { timeout: 120_000 }, async (t) => {
    const server = await startBinary();
    t.after(server.stop);
    const upstream = `127.0.0.1:${await freePort()}`;
    const dns = spawn(
      process.execPath,
      [
        join(root, 'bin', 'fairlead'),
        ...['dns', '--kubeconfig', server.kubeconfig, '--listen', '127.0.0.1:0'],
        ...['--cluster-domain', 'cluster.local', '--pods', 'insecure', '--ttl', '30'],
        ...['--forward', upstream, '--metrics-bind-address', 'none', ...flags],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    t.after(() => end(dns));
    const address = await listening(dns);
    const runner = spawn(
      process.execPath,
      [
        join(root, 'test', 'conformance', 'dns', 'run.mjs'),
        ...['--kubeconfig', server.kubeconfig, '--server', address, '--upstream', upstream],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let text = '';
    runner.stdout.on('data', (chunk: Buffer) => {
      text += String(chunk);
    });
    await once(runner, 'close');
    assert.match(text, /^\d{3} passed, 0 failed\n$/);
  });
}

/** It says where it listens. */
function listening({ stdout }: ChildProcess): Promise<string> {
  assert.ok(stdout);
  let text = '';
  return new Promise((resolve, reject) => {
    stdout.on('data', (chunk: Buffer) => {
      text += String(chunk);
      const address = / on (\S+)\n/.exec(text)?.[1];
      if (address !== undefined) resolve(address);
    });
    stdout.once('end', () => reject(new Error(`Cannot start DNS: it ended, saying "${text}"`)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
