// Exports and imports the store of a server, for backups and to move between backends.
import { createReadStream, existsSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type Command, Option } from 'commander';
import { registryPrefix } from '../../apiserver/cache/stored-object.ts';
import { type CommandDefinition, UsageError, type World } from '../../flags/command.ts';
import { explainLocked } from '../../flags/data-directory.ts';
import {
  addEncryptionFile,
  type Encryption,
  type EncryptionFlags,
  openEncryption,
  pathPrefixOf,
} from '../../flags/encryption-flags.ts';
import { addEtcdClientFlags, type EtcdClientFlags, openEtcd } from '../../flags/etcd-flags.ts';
import { wholeNumber } from '../../flags/parse-values.ts';
import { createLog } from '../../observe/log.ts';
import { createMetrics } from '../../observe/metrics.ts';
import { formatTime } from '../../schema/time.ts';
import { openEmbeddedStore } from '../../storage/backends/embedded/store.ts';
import { syncDirectoryOf } from '../../storage/backends/embedded/sync-directory.ts';
import type { Store } from '../../storage/store.ts';
import {
  createExportReader,
  type ExportEntry,
  type ExportHeader,
} from '../../storage/transfer/export-format.ts';
import { exportStore } from '../../storage/transfer/export-store.ts';
import {
  emptyStore,
  type Imported,
  importStore,
  refuseUnlessEmpty,
} from '../../storage/transfer/import-store.ts';
import { plainStore, storedForm } from '../transfer-encryption.ts';

type StoreFlags = EtcdClientFlags &
  Pick<EncryptionFlags, 'encryptionProviderConfig'> & { readonly dataDir: string };
type ExportFlags = StoreFlags & { readonly output?: string; readonly decrypt?: boolean };
type ImportFlags = StoreFlags & { readonly bumpRevision?: number };

export const storage: CommandDefinition = {
  configure(command, world) {
    addStoreFlags(command.command('export'))
      .description(
        'Exports all data as of one revision to standard output or a file. A server with this --data-dir must be stopped',
      )
      .option(
        '-o, --output <file>',
        'File to write, readable only by its owner. Created when the export is complete',
      )
      .option(
        '--decrypt',
        'Exports encrypted values as plain text, with the keys of --encryption-provider-config (default: values are exported as stored)',
      )
      .action(async (flags: ExportFlags) => runExport(flags, world));
    addStoreFlags(command.command('import'))
      .description('Imports an export into an empty store')
      .argument('<file>', 'File written by `fairlead storage export`')
      .addOption(
        new Option(
          '--bump-revision <n>',
          'Distance of the first new revision from the last exported one (default: 1000000 in a directory, 1000 in etcd)',
        ).argParser(wholeNumber({ min: 1, max: 1e12 })),
      )
      .action(async (file: string, flags: ImportFlags) => runImport(file, flags, world));
  },
};

function addStoreFlags(command: Command): Command {
  return addEncryptionFile(
    addEtcdClientFlags(
      command.option('--data-dir <dir>', 'Data directory of the server', '.fairlead'),
    ),
  );
}

const storeDirectory = ({ dataDir }: StoreFlags, world: World): string =>
  join(resolve(world.cwd(), dataDir), 'store');

const openOther = (flags: StoreFlags, world: World): Promise<Store | undefined> =>
  openEtcd(flags, { cwd: world.cwd(), now: world.now, metrics: createMetrics() });

const readEncryption = (flags: StoreFlags, world: World): Promise<Encryption | undefined> =>
  openEncryption(flags, { cwd: world.cwd(), log: createLog('warn'), metrics: createMetrics() });

async function runExport(flags: ExportFlags, world: World): Promise<void> {
  const encryption = await readEncryption(flags, world);
  if ((flags.decrypt === true) !== (encryption !== undefined))
    throw new UsageError(
      'Cannot use --decrypt and --encryption-provider-config without each other.',
    );
  const stored = (await openOther(flags, world)) ?? (await openStopped(flags, world));
  const keyPrefix = pathPrefixOf(flags);
  const store = encryption === undefined ? stored : plainStore(stored, encryption, keyPrefix);
  try {
    const now = formatTime(world.now());
    const lines = exportStore(store, { prefix: registryPrefix, now, keyPrefix });
    if (flags.output === undefined) for await (const line of lines) world.write(line);
    else await writeLines(resolve(world.cwd(), flags.output), lines);
  } finally {
    await store.close();
  }
}

/** Opened without expiry, so that reading changes nothing. */
async function openStopped(flags: StoreFlags, world: World): Promise<Store> {
  const directory = storeDirectory(flags, world);
  if (!existsSync(join(directory, 'store.mdb'))) {
    throw new UsageError(
      `Cannot find a store: "${directory}" has none. Name the data directory of the server with --data-dir, or --etcd-servers.`,
    );
  }
  try {
    return await openEmbeddedStore({ directory, now: world.now, setTimer: () => () => {} });
  } catch (error) {
    throw explainLocked(error, resolve(world.cwd(), flags.dataDir));
  }
}

/** Written atomically: the file is always complete. */
async function writeLines(path: string, lines: AsyncIterable<string>): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w', 0o600);
  try {
    for await (const line of lines) await file.write(line);
    await file.sync();
  } catch (error) {
    await file.close();
    await rm(temporary, { force: true });
    throw error;
  }
  await file.close();
  await rename(temporary, path);
}

async function runImport(name: string, flags: ImportFlags, world: World): Promise<void> {
  const file = resolve(world.cwd(), name);
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'there is no such file.' : error.message;
    throw new UsageError(`Cannot import "${name}": ${reason}`);
  });
  if (!found.isFile()) throw new UsageError(`Cannot import "${name}": it is not a file.`);
  // Read the whole file once before writing anything.
  const header = await checkFile(file);
  const encryption = await readEncryption(flags, world);
  const move = { encryption, from: header.keyPrefix ?? '', to: pathPrefixOf(flags) };
  const entries = (): AsyncGenerator<ExportEntry> => storedForm(entriesOf(file), move);
  for await (const _ of entries()) {
    // Check that the importing server can decrypt every value before changing anything.
  }
  const etcd = await openOther(flags, world);
  const imported =
    etcd === undefined
      ? await importToDirectory(entries(), header, flags, world)
      : await importToEtcd(entries(), header, etcd, flags, world);
  const over = imported.expired === 0 ? '' : `, ${imported.expired} whose time was over left out`;
  world.write(
    `Imported ${imported.written} keys of revision ${header.revision}${over}; the store is at revision ${imported.revision}.\n`,
  );
}

async function checkFile(file: string): Promise<ExportHeader> {
  const reader = createExportReader();
  for await (const line of linesOf(file)) reader.line(line);
  return reader.end();
}

async function* entriesOf(file: string): AsyncGenerator<ExportEntry> {
  const reader = createExportReader();
  for await (const line of linesOf(file)) {
    const entry = reader.line(line);
    if (entry !== undefined) yield entry;
  }
  reader.end();
}

const linesOf = (file: string): AsyncIterable<string> =>
  createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Number.POSITIVE_INFINITY });

/** Clients may have observed revisions after the export: new revisions must be higher. Costs nothing in a directory. */
const directoryMargin = 1_000_000;
/** Each revision costs a write in etcd. */
const etcdMargin = 1000;

/** Written to a temporary directory first, so that the store is complete or absent. */
async function importToDirectory(
  entries: AsyncGenerator<ExportEntry>,
  { revision }: ExportHeader,
  { bumpRevision = directoryMargin, ...flags }: ImportFlags,
  world: World,
): Promise<Imported> {
  const target = storeDirectory(flags, world);
  if (existsSync(join(target, 'store.mdb'))) {
    throw new UsageError(
      `Cannot import to "${target}": there is a store already. Move it away first. Nothing was changed.`,
    );
  }
  const above = revision + bumpRevision;
  const directory = `${target}.importing`;
  await rm(directory, { recursive: true, force: true });
  const store = await openEmbeddedStore({ directory, now: world.now, startRevision: above });
  let imported: Imported;
  try {
    imported = await importStore(store, { entries, above, now: world.now });
    await store.close();
  } catch (error) {
    await store.close();
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
  await rm(target, { recursive: true, force: true });
  await rename(directory, target);
  await syncDirectoryOf(target);
  return imported;
}

async function importToEtcd(
  entries: AsyncGenerator<ExportEntry>,
  { revision }: ExportHeader,
  store: Store,
  { bumpRevision = etcdMargin, etcdPrefix }: ImportFlags,
  world: World,
): Promise<Imported> {
  try {
    await refuseUnlessEmpty(store, `etcd under "${etcdPrefix}"`);
    const above = revision + bumpRevision;
    try {
      return await importStore(store, { entries, above, now: world.now });
    } catch (error) {
      await emptyStore(store);
      throw error;
    }
  } finally {
    await store.close();
  }
}
