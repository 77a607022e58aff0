// API servers as processes on one etcd, to be killed, frozen and started again.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConnection } from '../../src/client/read-kubeconfig.ts';
import { root } from '../lanes/running-server.ts';
import { openApiClient } from '../parts/harness/api-client.ts';
import { freePort } from '../parts/harness/free-port.ts';
import { openCutLine } from '../parts/harness/severable-link.ts';
import { isReady } from './api-crash-server.ts';
import type { Reachable } from './etcd-fault-clients.ts';

export type FaultServer = Reachable & {
  readonly url: string;
  /** Of an administrator; there once it has started. */
  readonly kubeconfig: string;
  readonly advertised: string;
  readonly start: () => Promise<void>;
  readonly kill: () => Promise<void>;
  /** Asks it to end, as an operator does. */
  readonly end: () => Promise<void>;
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Between the server and all members of etcd. */
  readonly cutOff: () => void;
  readonly joinAgain: () => void;
  /** For good. */
  readonly hangUp: () => void;
};

export type FaultServers = {
  readonly all: readonly FaultServer[];
  readonly remove: () => Promise<void>;
};

/** What servers must have in common for clients of one to be clients of all. */
const commonFiles = ['ca.crt', 'ca.key', 'sa.key'];

export async function startFaultServers(
  count: number,
  etcdUrls: readonly string[],
): Promise<FaultServers> {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-fault-'));
  const all = await Promise.all(
    Array.from({ length: count }, (_, n) => makeServer(join(directory, String(n)), n, etcdUrls)),
  );
  const first = join(directory, '0', 'data', 'pki');
  for (const [n, server] of all.entries()) {
    const own = join(directory, String(n), 'data', 'pki');
    await mkdir(own, { recursive: true, mode: 0o700 });
    if (n > 0) for (const file of commonFiles) await cp(join(first, file), join(own, file));
    await server.start();
  }
  return {
    all,
    async remove() {
      await Promise.all(all.map(({ kill }) => kill()));
      for (const { hangUp } of all) hangUp();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function makeServer(
  directory: string,
  number: number,
  etcdUrls: readonly string[],
): Promise<FaultServer> {
  const advertised = `192.0.2.${number + 1}`;
  const port = String(await freePort());
  const lines = await Promise.all(etcdUrls.map(openCutLine));
  const kubeconfig = join(directory, 'kubeconfig');
  const args = [
    ...[
      join(root, 'bin', 'fairlead'),
      'apiserver',
      '--etcd-servers',
      lines.map(({ url }) => url).join(','),
    ],
    ...['--bind-address', '127.0.0.1', '--secure-port', port, '--advertise-address', advertised],
    ...['--data-dir', join(directory, 'data'), '--write-kubeconfig', kubeconfig],
    ...['--log-level', 'silent', '--service-cluster-ip-range', '10.96.0.0/24'],
    ...['--service-node-port-range', '30000-30255'],
  ];
  let child: ChildProcess | undefined;
  const endWith = async (signal: NodeJS.Signals): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  return {
    number,
    advertised,
    url: `https://127.0.0.1:${port}`,
    kubeconfig,
    async start() {
      if (child !== undefined && child.exitCode === null && child.signalCode === null) return;
      child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      await isReady(child);
    },
    kill: () => endWith('SIGKILL'),
    end: () => endWith('SIGTERM'),
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    cutOff() {
      for (const { cut } of lines) cut();
    },
    joinAgain() {
      for (const { mend } of lines) mend();
    },
    hangUp() {
      for (const { close } of lines) close();
    },
    async connect() {
      const { certificateAuthority, clientCertificate, clientKey } = await readConnection([
        kubeconfig,
      ]);
      return openApiClient({
        port: Number(port),
        ca: certificateAuthority ?? '',
        cert: clientCertificate ?? '',
        key: clientKey ?? '',
      });
    },
  };
}
