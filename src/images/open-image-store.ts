// Opens a store of images; what it does is said in image-store.ts.
import { createReadStream } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileLock, lockFile, tryLockFile } from '../host/lock-file.ts';
import { ImageError, isImageError } from './image-error.ts';
import type {
  ImageLimits,
  ImageStore,
  ImageStoreOptions,
  LocalImage,
  PullOptions,
} from './image-store.ts';
import { archiveError } from './load/archive-files.ts';
import { loadImages } from './load/load-images.ts';
import { loadingSuffix, openArchive } from './load/read-archive.ts';
import { openLayout } from './load/read-layout.ts';
import { parseReference } from './parse-reference.ts';
import { pullImage } from './pull/pull-image.ts';
import { openConnections } from './registry/open-connections.ts';
import { removeGarbage } from './remove-garbage.ts';
import { type ImageBlobs, openBlobs } from './store/image-blobs.ts';
import type { StoredImage } from './store/image-index.ts';
import { type ImageRecords, openRecords } from './store/image-records.ts';
import { openUses } from './store/image-uses.ts';
import { makeStoreDirectory } from './store/open-directory.ts';
import { openLayers, type UnpackedLayers } from './store/unpacked-layers.ts';
import * as defaults from './unpack/limits.ts';
import { createUnpackThreads } from './unpack/run-unpack-threads.ts';
import { unpackImage } from './unpack/unpack-image.ts';

/** What an interrupted pull has received is of use for the next one, for some time. */
const leftoverMs = 3_600_000;
/** Rounds in which another process removes what one has fetched. */
const maxCommits = 3;
/** Of an archive with many images. */
const maxArchiveBytes = 5 * defaults.maxImageBytes;

/** Throws ImageError for a directory that is not a store, and NativeUnavailableError where system calls cannot be made. */
export async function openImageStore(options: ImageStoreOptions): Promise<ImageStore> {
  const { directory, now = Date.now } = options;
  await makeStoreDirectory(directory).catch((error: NodeJS.ErrnoException) => {
    const message = `cannot open the images in "${directory}": ${error.message}`;
    throw new ImageError('ErrImagePull', 'Unknown', message, { cause: error });
  });
  const blobs = openBlobs(directory);
  const uses = openUses(join(directory, 'used'), now);
  const records = openRecords({ directory, blobs, uses });
  const limits = limitsOf(options.limits);
  const connections = openConnections({ ...options.limits, env: options.env });
  const closed = new AbortController();
  const within = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, closed.signal]);
  const threads = createUnpackThreads();
  let openedLayers: Promise<UnpackedLayers> | undefined;
  /** By those who unpack; `fairlead image` does not. */
  const layers = (): Promise<UnpackedLayers> => {
    openedLayers ??= openLayers(join(directory, 'layers'), threads);
    return openedLayers;
  };
  await removeLeftovers(directory, records, now() - leftoverMs);

  const pull = async (name: string, pullOptions: PullOptions): Promise<LocalImage> => {
    const reference = parseReference(name);
    const signal = within(pullOptions.signal);
    const { registries = new Map() } = options;
    const environment = { ...{ blobs, connections, registries, now }, ...limits, ...records };
    return commit(records, signal, () =>
      pullImage(environment, reference, { ...pullOptions, signal }),
    );
  };
  return {
    pull,
    list: records.list,
    find: async (name) => {
      const found = await records.find(name);
      return found && records.local(found);
    },
    load: async (source, { signal, name }) => {
      const either = within(signal);
      return loadFrom({ directory, blobs, records, now, signal: either }, source, name);
    },
    remove: (name) => records.remove(name, closed.signal),
    unpack: async (image, signal) => {
      const stored = await records.find(image.id);
      if (stored === undefined)
        throw new ImageError('ErrImagePull', 'NotFound', `image ${image.id} was removed`);
      return unpackImage(image, stored, {
        ...{ layers: await layers(), blobs, limits, signal: within(signal) },
      });
    },
    use: async (id) => {
      const use = uses.start(id);
      const stored = use && (await records.find(id));
      if (use === undefined || stored === undefined) {
        use?.release();
        return undefined;
      }
      return { image: await records.local(stored), release: use.release };
    },
    collectGarbage: async (garbage) =>
      removeGarbage(
        { directory, records, layers: await layers() },
        { ...garbage, signal: within(garbage.signal) },
      ),
    close: async () => {
      closed.abort(new ImageError('ErrImagePull', 'Aborted', 'the store of images was closed'));
      connections.close();
      uses.close();
    },
  };
}

const limitsOf = (limits: ImageLimits = {}) => ({
  maxLayerBytes: limits.maxLayerBytes ?? defaults.maxLayerBytes,
  maxImageBytes: limits.maxImageBytes ?? defaults.maxImageBytes,
  maxLayerEntries: limits.maxLayerEntries ?? defaults.maxLayerEntries,
});

/** Once more if another process has removed a layer before the image was in the list. */
async function commit(
  records: ImageRecords,
  signal: AbortSignal,
  fetch: () => Promise<StoredImage>,
): Promise<LocalImage> {
  for (let round = 1; round <= maxCommits; round += 1) {
    const fetched = await fetch().catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    const added = fetched && (await records.add(fetched, signal));
    if (added !== undefined) return added;
  }
  throw new ImageError('ErrImagePull', 'Aborted', 'its layers are removed while they are fetched');
}

type LoadStore = {
  readonly directory: string;
  readonly blobs: ImageBlobs;
  readonly records: ImageRecords;
  readonly now: () => number;
  readonly signal: AbortSignal;
};

async function loadFrom(
  store: LoadStore,
  source: string | AsyncIterable<Buffer>,
  name: string | undefined,
): Promise<readonly LocalImage[]> {
  const { directory, blobs, records, now, signal } = store;
  const shown = typeof source === 'string' ? JSON.stringify(source) : 'the archive';
  // Shared with other loads; leftovers are removed while no one loads.
  const lock = await lockFile(loadingLock(directory), 'shared', signal);
  try {
    const files =
      typeof source === 'string' && (await stat(source)).isDirectory()
        ? openLayout(source, blobs, signal)
        : await openArchive(typeof source === 'string' ? createReadStream(source) : source, {
            ...{ blobs, signal, directory: join(directory, 'incoming') },
            maxBytes: maxArchiveBytes,
          });
    try {
      const images = await loadImages(files, { now, ...(name === undefined ? {} : { name }) });
      const loaded: LocalImage[] = [];
      for (const image of images) {
        const added = await records.add(image, signal);
        if (added === undefined) throw archiveError('its layers are removed while it is loaded');
        loaded.push(added);
      }
      return loaded;
    } finally {
      await files.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw explainLoad(error, shown);
  } finally {
    lock.release();
  }
}

function explainLoad(error: unknown, shown: string): unknown {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const failed = isImageError(error) ? error.code : fileErrors[code];
  if (failed === undefined) return error;
  return new ImageError('ErrImagePull', failed, `cannot load ${shown}: ${message}`, {
    cause: error,
  });
}

const fileErrors: Readonly<Record<string, 'NotFound' | 'InvalidArgument' | 'ResourceExhausted'>> = {
  ENOENT: 'NotFound',
  EACCES: 'InvalidArgument',
  ENOSPC: 'ResourceExhausted',
  EDQUOT: 'ResourceExhausted',
};

const loadingLock = (directory: string): string => join(directory, 'loading');

/** What processes that were killed have left. Others may be at work: what they have is locked, or young. */
async function removeLeftovers(
  directory: string,
  records: ImageRecords,
  before: number,
): Promise<void> {
  const loading: FileLock | undefined = tryLockFile(loadingLock(directory), 'exclusive');
  if (loading !== undefined) {
    const incoming = join(directory, 'incoming');
    for (const name of await readdir(incoming))
      if (name.endsWith(loadingSuffix)) await rm(join(incoming, name), { force: true });
    loading.release();
  }
  await records.sweep(before);
}
