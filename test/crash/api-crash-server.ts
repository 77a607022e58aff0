// The real binary with a data directory of its own, to be killed and started again.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, lstat, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConnection } from '../../src/client/read-kubeconfig.ts';
import { openEmbeddedStore } from '../../src/storage/backends/embedded/store.ts';
import { root } from '../lanes/running-server.ts';
import { assertExact } from '../parts/harness/allocation-checks.ts';
import { type ApiClient, openApiClient } from '../parts/harness/api-client.ts';
import { waitForOutput } from '../parts/harness/wait-for-output.ts';

export type CrashServer = {
  readonly kubeconfig: string;
  /** Starts the binary and connects to it once it answers. */
  readonly start: () => Promise<ApiClient>;
  /** Starts it and kills it before it may be ready. */
  readonly startAndKill: (afterMs: number) => Promise<void>;
  readonly kill: () => Promise<void>;
  /** What a killed server left must be whole: looked at in a copy, so that the next start still has to recover. */
  readonly inspect: () => Promise<void>;
  readonly remove: () => Promise<void>;
};

/** `flags` are asked for at each start. */
export async function makeCrashServer(
  flags: () => readonly string[] = () => [],
): Promise<CrashServer> {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-api-crash-'));
  const data = join(directory, 'data');
  const kubeconfig = join(directory, 'kubeconfig');
  let child: ChildProcess | undefined;
  const launch = (): ChildProcess => {
    const address = ['--bind-address', '127.0.0.1', '--secure-port', '0'];
    const files = ['--data-dir', data, '--write-kubeconfig', kubeconfig];
    const args = [join(root, 'bin', 'fairlead'), 'apiserver', ...address, ...files, ...flags()];
    child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    return child;
  };
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return {
    kubeconfig,
    async start() {
      await isReady(launch());
      return connect(kubeconfig);
    },
    async startAndKill(afterMs) {
      launch();
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      await kill();
    },
    kill,
    async inspect() {
      const copy = join(directory, 'copy');
      // A lock is a socket, without a holder any more.
      const filter = async (path: string): Promise<boolean> => !(await lstat(path)).isSocket();
      await cp(join(data, 'store'), copy, { recursive: true, filter });
      const store = await openEmbeddedStore({ directory: copy, now: Date.now });
      try {
        await assertExact(store);
      } finally {
        await store.close();
        await rm(copy, { recursive: true });
      }
    },
    async remove() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The server has said so. */
export async function isReady(child: ChildProcess): Promise<void> {
  await waitForOutput(child.stdout, /kubeconfig in /);
}

async function connect(kubeconfig: string): Promise<ApiClient> {
  const { server, ...identity } = await readConnection([kubeconfig]);
  const {
    certificateAuthority: ca = '',
    clientCertificate: cert = '',
    clientKey: key = '',
  } = identity;
  return openApiClient({ port: Number(new URL(server).port), ca, cert, key });
}
