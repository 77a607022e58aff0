// Images of this machine: pulled, loaded from files, listed and removed; beside a running `up`, or without one.
import { join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import {
  type CommandDefinition,
  FailedError,
  UsageError,
  type World,
} from '../../flags/command.ts';
import {
  addRegistryFlag,
  type RegistryFlag,
  readRegistrySettings,
} from '../../flags/registry-flags.ts';
import { ProxyUrlError } from '../../host/choose-proxy.ts';
import { NativeUnavailableError } from '../../host/native.ts';
import { isImageError } from '../../images/image-error.ts';
import type { ImageStore, PullProgress } from '../../images/image-store.ts';
import { openImageStore } from '../../images/open-image-store.ts';
import { printableLines } from '../../meta/printable.ts';
import { tableLines } from '../../meta/text-table.ts';
import { addDataDirFlag, type DataDirFlag } from '../../up/data-dir-flag.ts';
import { imageList, sizeText, sorted } from '../images/image-output.ts';
import { readKeyring } from '../images/read-keyring.ts';

type PullFlags = DataDirFlag & RegistryFlag & { readonly credsFile?: string };
type LoadFlags = DataDirFlag & { readonly name?: string };
type ListFlags = DataDirFlag & { readonly output?: 'json'; readonly quiet?: boolean };

export const image: CommandDefinition = {
  configure(command, world) {
    addRegistryFlag(addDirectory(command.command('pull')))
      .description('Pulls images from their registries')
      .argument(
        '<name...>',
        'Names of images, such as nginx:stable or registry.example/team/app@sha256:...',
      )
      .option(
        '--creds-file <file>',
        'File with credentials, as of `docker login` (default: ~/.docker/config.json)',
      )
      .action(async (names: readonly string[], flags: PullFlags) => pull(names, flags, world));
    addDirectory(command.command('load'))
      .description(
        'Loads all images of an OCI layout (a directory or a tar file) or of a `docker save` archive',
      )
      .argument('<file>', 'Archive or directory. `-` reads standard input')
      .option('--name <name>', 'Name of the image, if it has none in the archive')
      .action(async (file: string, flags: LoadFlags) => load(file, flags, world));
    addDirectory(command.command('ls'))
      .description('Lists the images of this machine')
      .addOption(new Option('-o, --output <format>', 'Output format').choices(['json']))
      .option('-q, --quiet', 'Prints IDs only')
      .action(async (flags: ListFlags) => list(flags, world));
    addDirectory(command.command('rm'))
      .description(
        'Removes names of images, and images without another name that no container uses',
      )
      .argument('<name...>', 'Names or IDs of images')
      .action(async (names: readonly string[], flags: DataDirFlag) => remove(names, flags, world));
  },
};

const addDirectory = (command: Command): Command => addDataDirFlag(command);

async function withStore<T>(
  flags: DataDirFlag & RegistryFlag,
  world: World,
  use: (store: ImageStore) => Promise<T>,
): Promise<T> {
  const dataDir = resolve(world.cwd(), flags.dataDir);
  const registries = readRegistrySettings(flags, world.cwd());
  let store: ImageStore | undefined;
  try {
    store = await openImageStore({
      ...{ directory: join(dataDir, 'images'), registries, env: world.env, now: world.now },
    });
    return await use(store);
  } catch (error) {
    throw explained(error, world);
  } finally {
    await store?.close();
  }
}

/** 130 after Ctrl-C. */
function explained(error: unknown, { interrupted }: World): unknown {
  if (interrupted.aborted) return new FailedError('', { exitCode: 130, cause: error });
  if (isImageError(error) && error.reason === 'InvalidImageName')
    return new UsageError(`${printableLines(error.message)}.`);
  const isKnown =
    isImageError(error) ||
    error instanceof NativeUnavailableError ||
    error instanceof ProxyUrlError;
  if (isKnown) return new FailedError(`error: ${printableLines(error.message)}`, { cause: error });
  return error;
}

async function pull(names: readonly string[], flags: PullFlags, world: World): Promise<void> {
  const keyring = await readKeyring(flags.credsFile, world);
  await withStore(flags, world, async (store) => {
    for (const name of names) {
      const onProgress = progressOf(name, world);
      const pulled = await store.pull(name, { keyring, signal: world.interrupted, onProgress });
      clearLine(world);
      const [shown = pulled.digests[0]] = pulled.names;
      world.write(`${shown} ${pulled.id}\n`);
    }
  });
}

/** One line that is written again and again, at a terminal only. */
const clearLine = ({ terminal, writeError }: World): void => {
  if (terminal !== undefined) writeError('\r\u001b[K');
};

function progressOf(name: string, world: World): (progress: PullProgress) => void {
  const { terminal, writeError } = world;
  if (terminal === undefined) return () => {};
  return ({ layers, layersDone, totalBytes, doneBytes }) => {
    const text = `${name}: ${layersDone} of ${layers} layers, ${sizeText(doneBytes)} of ${sizeText(totalBytes)}`;
    writeError(`\r\u001b[K${printableLines(text).slice(0, Math.max(terminal.columns - 1, 1))}`);
  };
}

async function load(file: string, flags: LoadFlags, world: World): Promise<void> {
  const source = file === '-' ? process.stdin : resolve(world.cwd(), file);
  await withStore(flags, world, async (store) => {
    const { name } = flags;
    const options = { signal: world.interrupted, ...(name === undefined ? {} : { name }) };
    for (const loaded of await store.load(source as string | AsyncIterable<Buffer>, options)) {
      const shown = loaded.names.length === 0 ? '<none>' : loaded.names.join(', ');
      world.write(`${shown} ${loaded.id}\n`);
    }
  });
}

async function list({ quiet = false, output, ...flags }: ListFlags, world: World): Promise<void> {
  const images = await withStore(flags, world, (store) => store.list());
  if (output === 'json') {
    world.write(`${JSON.stringify(imageList(images), undefined, 2)}\n`);
    return;
  }
  if (quiet) {
    world.write(
      sorted(images)
        .map(({ id }) => `${id}\n`)
        .join(''),
    );
    return;
  }
  if (images.length === 0) {
    world.writeError('There are no images. Pull one with `fairlead image pull NAME`.\n');
    return;
  }
  const rows = sorted(images).flatMap(({ id, names, sizeBytes }) =>
    (names.length === 0 ? ['<none>'] : names).map((name) => [
      ...[name, id.slice('sha256:'.length, 19), sizeText(sizeBytes)],
    ]),
  );
  world.write(
    tableLines([['NAME', 'IMAGE ID', 'SIZE'], ...rows])
      .map((line) => `${line}\n`)
      .join(''),
  );
}

async function remove(names: readonly string[], flags: DataDirFlag, world: World): Promise<void> {
  await withStore(flags, world, async (store) => {
    for (const name of names) {
      const removed = await store.remove(name);
      if (removed === undefined)
        throw new FailedError(`error: There is no image ${printableLines(JSON.stringify(name))}`);
      for (const one of removed.untagged) world.write(`Untagged: ${one}\n`);
      if (removed.deleted !== undefined) world.write(`Deleted: ${removed.deleted}\n`);
    }
  });
}
