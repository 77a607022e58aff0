// The flags of the etcd backend, with kube-apiserver's names.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultCompactionIntervalMs } from '../apiserver/compaction/shared-compaction.ts';
import type { SharedStoreOptions } from '../apiserver/options.ts';
import { trimEnd } from '../meta/trim-end.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';
import type { EtcdClientOptions } from '../storage/backends/etcd/client.ts';
import { createEtcdMetrics } from '../storage/backends/etcd/metrics.ts';
import { defaultEtcdPrefix, openEtcdStore } from '../storage/backends/etcd/store.ts';
import type { Store } from '../storage/store.ts';
import { isStoreError } from '../storage/store-error.ts';
import { UsageError } from './command.ts';
import { duration, formatDuration } from './parse-values.ts';

export type EtcdClientFlags = {
  readonly etcdServers?: readonly string[];
  readonly etcdCafile?: string;
  readonly etcdCertfile?: string;
  readonly etcdKeyfile?: string;
  readonly etcdPrefix: string;
};

export type EtcdFlags = EtcdClientFlags & { readonly etcdCompactionInterval: number };

export function addEtcdFlags(command: Command): Command {
  return addEtcdClientFlags(command).addOption(
    new Option(
      '--etcd-compaction-interval <time>',
      'Interval of compaction requests to etcd. 0 disables compaction by this server',
    )
      .argParser(duration())
      .default(defaultCompactionIntervalMs, formatDuration(defaultCompactionIntervalMs)),
  );
}

/** The members of etcd, and the credentials. */
export function addEtcdClientFlags(command: Command): Command {
  return command
    .option(
      '--etcd-servers <urls>',
      'URLs of the etcd members, separated by commas. Stores all data in etcd instead of DATA-DIR',
      memberUrls,
    )
    .option('--etcd-cafile <file>', 'CA file that verifies the etcd members')
    .option('--etcd-certfile <file>', 'Client certificate file for etcd')
    .option('--etcd-keyfile <file>', 'Private key file of the etcd client certificate')
    .option('--etcd-prefix <prefix>', 'Prefix of all keys in etcd', keyPrefix, defaultEtcdPrefix);
}

export type EtcdWorld = {
  readonly cwd: string;
  readonly now: () => number;
  readonly metrics: MetricsRegistry;
};

/** Undefined without --etcd-servers. */
export async function openEtcd(
  flags: EtcdClientFlags,
  world: EtcdWorld,
): Promise<Store | undefined> {
  const { etcdServers: endpoints, etcdPrefix: prefix } = flags;
  const tls = await readTls(flags, world.cwd);
  if (endpoints === undefined) return undefined;
  const { now, metrics } = world;
  try {
    return await openEtcdStore({
      ...{ endpoints, prefix, now, measure: createEtcdMetrics(metrics) },
      ...(tls === undefined ? {} : { tls }),
    });
  } catch (error) {
    if (!isStoreError(error, 'unavailable')) throw error;
    throw new UsageError(
      `${error.message} (--etcd-servers ${endpoints.join(',')}). Is it running, and are --etcd-cafile, --etcd-certfile and --etcd-keyfile what it asks for?`,
    );
  }
}

/** The options of the API server for a shared store. */
export function sharedStore({ etcdCompactionInterval }: EtcdFlags): SharedStoreOptions {
  return { backend: 'etcd', compactionIntervalMs: etcdCompactionInterval };
}

async function readTls(flags: EtcdClientFlags, cwd: string): Promise<EtcdClientOptions['tls']> {
  const { etcdServers, etcdCafile, etcdCertfile, etcdKeyfile } = flags;
  const isNamed = [etcdCafile, etcdCertfile, etcdKeyfile].some((file) => file !== undefined);
  if (!isNamed) return undefined;
  if (etcdServers === undefined) {
    throw new UsageError('Cannot use certificates for etcd: --etcd-servers is missing.');
  }
  if ((etcdCertfile === undefined) !== (etcdKeyfile === undefined)) {
    throw new UsageError('Cannot use --etcd-certfile and --etcd-keyfile without each other.');
  }
  const read = async (flag: string, file: string): Promise<string> => {
    try {
      return await readFile(resolve(cwd, file), 'utf8');
    } catch (error) {
      throw new UsageError(`Cannot read ${flag} "${file}": ${(error as Error).message}.`);
    }
  };
  return {
    ...(etcdCafile === undefined ? {} : { ca: await read('--etcd-cafile', etcdCafile) }),
    ...(etcdCertfile === undefined ? {} : { cert: await read('--etcd-certfile', etcdCertfile) }),
    ...(etcdKeyfile === undefined ? {} : { key: await read('--etcd-keyfile', etcdKeyfile) }),
  };
}

function memberUrls(text: string): readonly string[] {
  return text.split(',').map((part) => {
    const url = part.trim();
    const { protocol, pathname, search } = URL.canParse(url) ? new URL(url) : noUrl;
    const isMember = (protocol === 'http:' || protocol === 'https:') && pathname === '/';
    if (isMember && search === '') return url.replace(/\/$/, '');
    throw new InvalidArgumentError(
      `"${part}" is not the URL of an etcd member; it must be one like https://10.0.0.1:2379.`,
    );
  });
}

const noUrl = { protocol: '', pathname: '', search: '' };

/** Without a trailing slash, as keys start with one. */
function keyPrefix(text: string): string {
  const trimmed = trimEnd(text, '/');
  if (/^(\/[^/\s]+)+$/.test(trimmed)) return trimmed;
  throw new InvalidArgumentError(
    `"${text}" is not a prefix of keys; it must be one like /fairlead.`,
  );
}
