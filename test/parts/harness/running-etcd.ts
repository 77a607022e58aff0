// A real etcd for tests: one member or several, in directories and on ports of their own, that can be killed and come back.
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

export type EtcdMember = {
  readonly url: string;
  /** As a power cut. */
  readonly kill: () => Promise<void>;
  /** With what it left on its disk. */
  readonly start: () => Promise<void>;
  /** It neither answers nor closes its connections, like a member behind a broken network. */
  readonly freeze: () => void;
  readonly thaw: () => void;
};

export type RunningEtcd = {
  /** Of the first member. */
  readonly url: string;
  readonly urls: readonly string[];
  readonly members: readonly EtcdMember[];
  readonly stop: () => Promise<void>;
};

/** What to say where it is missing; undefined where it is there. */
export function etcdMissing(): string | undefined {
  return spawnSync('etcd', ['--version']).status === 0
    ? undefined
    : 'etcd is not installed (Debian: etcd-server)';
}

/** Files in PEM form; who has none speaks plainly. */
export type EtcdTls = {
  readonly authority: string;
  readonly certificate: string;
  readonly privateKey: string;
};

/** Where a member lives, and how programs are started there. */
export type Host = {
  readonly address: string;
  readonly launch: (
    program: string,
    args: readonly string[],
    options: SpawnOptions,
  ) => ChildProcess;
};

const here: Host = { address: '127.0.0.1', launch: spawn };

export function startEtcd(size = 1, tls?: EtcdTls): Promise<RunningEtcd> {
  return startEtcdOn(new Array<Host>(size).fill(here), tls);
}

/** A member on each of the hosts. */
export async function startEtcdOn(hosts: readonly Host[], tls?: EtcdTls): Promise<RunningEtcd> {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-etcd-'));
  const configs = await Promise.all(
    hosts.map(async (host, n) => ({
      host,
      name: `member-${n}`,
      directory: join(directory, String(n)),
      client: await freeUrl(tls === undefined ? 'http' : 'https', host),
      peer: await freeUrl('http', host),
      health: await freeUrl('http', host),
    })),
  );
  const cluster = configs.map(({ name, peer }) => `${name}=${peer}`).join(',');
  const members = configs.map((config) =>
    createMember(config, [...clusterFlags(cluster), ...tlsFlags(tls)]),
  );
  // A member is ready when a majority is there: together.
  await Promise.all(members.map(({ start }) => start()));
  return {
    url: members[0]?.url ?? '',
    urls: members.map(({ url }) => url),
    members,
    async stop() {
      await Promise.all(members.map(({ kill }) => kill()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

type MemberConfig = {
  readonly host: Host;
  readonly name: string;
  readonly directory: string;
  readonly client: string;
  readonly peer: string;
  /** Where it says whether it is well, without asking for certificates. */
  readonly health: string;
};

const clusterFlags = (cluster: string): readonly string[] => ['--initial-cluster', cluster];

function tlsFlags(tls: EtcdTls | undefined): readonly string[] {
  if (tls === undefined) return [];
  const { authority, certificate, privateKey } = tls;
  return [
    ...['--client-cert-auth', '--trusted-ca-file', authority],
    ...['--cert-file', certificate, '--key-file', privateKey],
  ];
}

function createMember(config: MemberConfig, flags: readonly string[]): EtcdMember {
  const { host, name, directory, client, peer, health } = config;
  let child: ChildProcess | undefined;
  return {
    url: client,
    async start() {
      child = host.launch(
        'etcd',
        [
          ...['--data-dir', directory, '--name', name, '--listen-metrics-urls', health],
          ...['--listen-client-urls', client, '--advertise-client-urls', client],
          ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
          // The contract writes 700 keys at once; the API server never comes near.
          ...['--max-txn-ops', '1024', '--logger', 'zap', '--log-level', 'fatal'],
          ...flags,
        ],
        { stdio: 'ignore' },
      );
      await ready(health, child);
    },
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  };
}

async function ready(url: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    const answer = await fetch(`${url}/health`).catch(() => undefined);
    if (answer?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`etcd ended with ${child.exitCode} before it was ready`);
}

/** A port that is free here is free on a new host. */
async function freeUrl(scheme: 'http' | 'https', { address }: Host): Promise<string> {
  return `${scheme}://${address}:${await freePort()}`;
}
