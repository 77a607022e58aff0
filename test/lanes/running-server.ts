// Starts the real binary for a test and ends it afterwards.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

export type RunningServer = {
  readonly kubeconfig: string;
  readonly directory: string;
  readonly process: ChildProcess;
  readonly stop: () => Promise<void>;
};

export async function startBinary(flags: readonly string[] = []): Promise<RunningServer> {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-test-'));
  const kubeconfig = join(directory, 'kubeconfig');
  const child = spawn(
    process.execPath,
    [
      join(root, 'bin', 'fairlead'),
      ...['up', '--network', 'none', '--bind-address', '127.0.0.1', '--secure-port', '0'],
      ...['--data-dir', join(directory, 'data'), '--write-kubeconfig', kubeconfig],
      ...['--service-cluster-ip-range', '10.96.0.0/16,fd00:96::/108'],
      ...flags,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await ready(child);
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    await rm(directory, { recursive: true, force: true });
  };
  return { kubeconfig, directory, process: child, stop };
}

/** The start-up screen says when requests are answered. */
export function ready({ stdout }: ChildProcess): Promise<void> {
  assert.ok(stdout);
  let text = '';
  return new Promise((resolve, reject) => {
    stdout.on('data', (chunk: Buffer) => {
      text += String(chunk);
      if (text.includes('Press Ctrl-C to stop it.')) resolve();
    });
    stdout.once('end', () =>
      reject(new Error(`Cannot start the server: it ended, saying "${text}"`)),
    );
  });
}
