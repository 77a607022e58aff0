// A real etcd for tests: one member, in a directory and on ports of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type RunningEtcd = { readonly url: string; readonly stop: () => Promise<void> };

/** What to say where it is missing; undefined where it is there. */
export function etcdMissing(): string | undefined {
  return spawnSync('etcd', ['--version']).status === 0
    ? undefined
    : 'etcd is not installed (Debian: etcd-server)';
}

export async function startEtcd(): Promise<RunningEtcd> {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-etcd-'));
  const [client, peer] = await Promise.all([freeUrl(), freeUrl()]);
  const child = spawn(
    'etcd',
    [
      ...['--data-dir', directory, '--name', 'one', '--initial-cluster', `one=${peer}`],
      ...['--listen-client-urls', client, '--advertise-client-urls', client],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      // The contract writes 700 keys at once; the API server never comes near.
      ...['--max-txn-ops', '1024', '--logger', 'zap', '--log-level', 'error'],
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  await ready(client, child);
  return {
    url: client,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const answer = await fetch(`${url}/health`).catch(() => undefined);
    if (answer?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`etcd ended with ${child.exitCode} before it was ready`);
}

async function freeUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}
