// Everything that `up` with nodes writes is for its owner only, with a umask that forbids nothing.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { openToOthers, withUmask } from '../lanes/file-modes.ts';
import { ready, root } from '../lanes/running-server.ts';
import { until } from './up-harness.ts';

const execute = promisify(execFile);

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'c', image: 'process', command: ['sh', '-c', 'echo x; sleep 1000'] }],
  },
};

/** What the pod's own users need, below a directory that only the owner enters. */
const ofPods =
  /\/nodes\/[^/]+\/pods\/[^/]+\/(etc-(hostname|hosts|resolv\.conf)$|volumes\/|containers\/[^/]+\/\d+\/(disk|root|termination-log)(\/|$))/;

test('up with umask 000 leaves nothing open to others, nor does a shell in it', {
  timeout: 300_000,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-modes-'));
  const program = [process.execPath, join(root, 'bin', 'fairlead')];
  const data = join(directory, 'data');
  const fairlead = async (...words: readonly string[]): Promise<string> => {
    const [file = '', ...args] = withUmask('000', [...program, ...words]);
    const env = { ...process.env, KUBECONFIG: join(data, 'kubeconfig') };
    return (await execute(file, args, { cwd: directory, env })).stdout;
  };
  const [file = '', ...args] = withUmask('000', [
    ...[...program, 'up', '--secure-port', '0', '--data-dir', data],
  ]);
  const child = spawn(file, args, { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await ready(child);
    writeFileSync(join(directory, 'pod.json'), JSON.stringify(pod), { mode: 0o600 });
    await fairlead('apply', '-f', 'pod.json');
    await until(async () =>
      (await fairlead('get', 'pods')).includes('Running') ? true : undefined,
    );
    await fairlead('shell', '--data-dir', data, '--', 'true');
    assert.deepEqual(
      openToOthers(directory).filter((entry) => !ofPods.test(entry)),
      [],
    );
  } finally {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
    rmSync(directory, { recursive: true, force: true });
  }
});
