// The flags of encryption at rest, with kube-apiserver's names; reads the configuration file.
import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Transformers } from '../apiserver/encryption/transformer.ts';
import { systemClock } from '../host/clock.ts';
import type { Log } from '../observe/log.ts';
import type { MetricsRegistry } from '../observe/metrics.ts';
import type { Store } from '../storage/store.ts';
import { awaitFileChange } from './await-file-change.ts';
import { UsageError } from './command.ts';
import { createEncryptionMetrics } from './encryption-metrics.ts';

export type EncryptionFlags = {
  readonly encryptionProviderConfig?: string;
  readonly encryptionProviderConfigAutomaticReload?: boolean;
};

export function addEncryptionFlags(command: Command): Command {
  return addEncryptionFile(command).option(
    '--encryption-provider-config-automatic-reload',
    'Reloads --encryption-provider-config when the file changes. An invalid file is logged, and the previous keys remain in use',
  );
}

export function addEncryptionFile(command: Command): Command {
  return command.option(
    '--encryption-provider-config <file>',
    'EncryptionConfiguration file (apiserver.config.k8s.io/v1) that selects the resources to store encrypted, and their keys (default: no encryption)',
  );
}

export type Encryption = {
  /** The current transformers. */
  readonly transformers: () => Transformers;
  readonly encrypt: (store: Store, pathPrefix: string) => Store;
  /** Reloads the file when it changes, if automatic reload is on. Returns a function that stops it. */
  readonly follow: (onChange: () => Promise<void>) => () => Promise<void>;
};

export type EncryptionWorld = {
  readonly cwd: string;
  readonly log: Log;
  readonly metrics: MetricsRegistry;
};

/** Undefined without encryption. */
export async function openEncryption(
  flags: EncryptionFlags,
  { cwd, log, metrics }: EncryptionWorld,
): Promise<Encryption | undefined> {
  const { encryptionProviderConfig: file, encryptionProviderConfigAutomaticReload: reloads } =
    flags;
  if (file === undefined) {
    if (reloads !== true) return undefined;
    throw new UsageError(
      'Cannot use --encryption-provider-config-automatic-reload: --encryption-provider-config is missing.',
    );
  }
  const path = resolve(cwd, file);
  // Loaded only when needed: most servers do not use encryption.
  const { encryptStore } = await import('../apiserver/encryption/encrypt-store.ts');
  let { text, transformers } = await load(path).catch((error: Error) => {
    throw new UsageError(error.message);
  });
  await warnOfReaders(path, log);
  const { measure, reloaded } = createEncryptionMetrics(metrics);

  async function reload(onChange: () => Promise<void>): Promise<void> {
    try {
      ({ text, transformers } = await load(path));
      await onChange();
      reloaded('success');
      log.info('Loaded new encryption config', { path });
    } catch (error) {
      // The previous text stays, so that the next poll tries again.
      reloaded('failure');
      log.error('Failed to load new encryption config, keeping the previous keys', {
        path,
        error: (error as Error).message,
      });
    }
  }

  return {
    transformers: () => transformers,
    encrypt: (store, pathPrefix) =>
      encryptStore(store, { transformers: () => transformers, pathPrefix, measure }),
    follow(onChange) {
      if (reloads !== true) return async () => {};
      const end = new AbortController();
      const following = (async () => {
        while (await awaitFileChange({ path, text, clock: systemClock }, end.signal))
          await reload(onChange);
      })();
      return async () => {
        end.abort();
        await following;
      };
    },
  };
}

export function withEncryption(
  store: Store,
  encryption: Encryption | undefined,
  location: { readonly etcdServers?: readonly string[]; readonly etcdPrefix: string },
): Store {
  return encryption === undefined ? store : encryption.encrypt(store, pathPrefixOf(location));
}

/** The prefix of the keys of a store: --etcd-prefix in etcd, empty in a directory. */
export function pathPrefixOf({
  etcdServers,
  etcdPrefix,
}: {
  readonly etcdServers?: readonly string[];
  readonly etcdPrefix: string;
}): string {
  return etcdServers === undefined ? '' : etcdPrefix;
}

type Loaded = { readonly text: string; readonly transformers: Transformers };

/** The maximum size of the configuration file. */
const maxFileBytes = 1024 * 1024;

async function load(path: string): Promise<Loaded> {
  const { parseEncryptionConfig } = await import('../apiserver/encryption/config.ts');
  const { createTransformers } = await import('../apiserver/encryption/transformer.ts');
  const text = await readText(path);
  return { text, transformers: createTransformers(parseEncryptionConfig(text, path)) };
}

async function readText(path: string): Promise<string> {
  const why = (reason: string): Error =>
    new Error(`Cannot read --encryption-provider-config "${path}": ${reason}.`);
  try {
    const found = await stat(path);
    if (!found.isFile()) throw why('it is not a file');
    if (found.size > maxFileBytes) throw why(`it is larger than ${maxFileBytes} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : why(message);
  }
}

/** Only a warning: mounted Secrets have this mode, and are visible to one container only. */
async function warnOfReaders(path: string, log: Log): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o007) === 0) return;
  log.warn('Encryption keys can be read by every user of this machine, use chmod 600', {
    path,
    mode: `0${(mode & 0o777).toString(8)}`,
  });
}
