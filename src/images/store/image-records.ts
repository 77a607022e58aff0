// The images of a store: what the list says, with the blobs that belong to it. Changes are made under a lock, and an image is in the list only while
// all its blobs are there.
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFile, tryLockFile } from '../../host/lock-file.ts';
import { ImageError } from '../image-error.ts';
import type { ImageConfig, LocalImage, RemovedName } from '../image-store.ts';
import { parseConfig } from '../parse-manifest.ts';
import { parseReference, referenceText } from '../parse-reference.ts';
import { addImage, findById, removeImage, removeNames, usedBlobs } from './change-index.ts';
import type { ImageBlobs } from './image-blobs.ts';
import {
  type ImageIndex,
  type IndexFile,
  isTemporary,
  openIndexFile,
  type StoredImage,
} from './image-index.ts';
import type { ImageUses } from './image-uses.ts';

export type ImageRecords = {
  readonly list: () => Promise<readonly LocalImage[]>;
  /** By name, digest or ID. */
  readonly find: (name: string) => Promise<StoredImage | undefined>;
  readonly findByDigest: (digest: string) => Promise<StoredImage | undefined>;
  readonly local: (image: StoredImage) => Promise<LocalImage>;
  /** Undefined if one of its blobs has been removed meanwhile. */
  readonly add: (image: StoredImage, signal: AbortSignal) => Promise<LocalImage | undefined>;
  readonly remove: (name: string, signal: AbortSignal) => Promise<RemovedName | undefined>;
  /** Whole images; those that have come into use are left out. Returns those that were removed. */
  readonly removeImages: (
    images: readonly LocalImage[],
    signal: AbortSignal,
  ) => Promise<readonly LocalImage[]>;
  /** Removes blobs that no image has and that are older, and what others have left. Does nothing while another process changes the list. */
  readonly sweep: (before: number) => Promise<void>;
  readonly usedLayers: () => Promise<ReadonlySet<string>>;
};

export type RecordsOptions = {
  readonly directory: string;
  readonly blobs: ImageBlobs;
  readonly uses: ImageUses;
};

export function openRecords(options: RecordsOptions): ImageRecords {
  const file = openIndexFile(join(options.directory, 'index.json'));
  const work: Work = { ...options, file, configs: new Map() };
  return {
    local: (image) => localOf(work, image),
    list: async () => Promise.all((await file.read()).images.map((image) => localOf(work, image))),
    find: async (name) => find(await file.read(), name),
    findByDigest: async (digest) =>
      (await file.read()).images.find(({ digests }) => digests.includes(digest)),
    add: (image, signal) => locked(work, signal, () => addOne(work, image)),
    remove: (name, signal) => locked(work, signal, () => removeName(work, name)),
    removeImages: (images, signal) => locked(work, signal, () => removeAll(work, images)),
    sweep: (before) => sweep(work, before),
    usedLayers: async () =>
      new Set((await file.read()).images.flatMap(({ layers }) => layers.map((l) => l.diffId))),
  };
}

type Work = RecordsOptions & {
  readonly file: IndexFile;
  readonly configs: Map<string, ImageConfig>;
};

const lockPath = ({ directory }: Work): string => join(directory, 'lock');

async function locked<T>(work: Work, signal: AbortSignal, change: () => Promise<T>): Promise<T> {
  const lock = await lockFile(lockPath(work), 'exclusive', signal);
  try {
    return await change();
  } finally {
    lock.release();
  }
}

async function localOf({ blobs, configs, uses }: Work, image: StoredImage): Promise<LocalImage> {
  const { id, names, digests, pulledAt, layers } = image;
  return {
    ...{ id, names, digests, pulledAt },
    sizeBytes: sizeOf(image),
    config: await readConfig(blobs, configs, id),
    layers: layers.map(({ diffId }) => diffId),
    lastUsed: Math.max(pulledAt, (await uses.lastUsed(id)) ?? 0),
  };
}

async function addOne(work: Work, image: StoredImage): Promise<LocalImage | undefined> {
  const { blobs, file, uses } = work;
  for (const digest of usedBlobs({ images: [image] }))
    if ((await blobs.size(digest)) === undefined) return undefined;
  const after = addImage(await file.read(), image);
  await file.write(after);
  await uses.touch(image.id);
  return localOf(work, after.images.find(({ id }) => id === image.id) ?? image);
}

async function removeName(work: Work, name: string): Promise<RemovedName | undefined> {
  const { file, uses } = work;
  const before = await file.read();
  const image = find(before, name);
  if (image === undefined) return undefined;
  const byId = findById(before, name) !== undefined;
  const untagged = byId ? [...image.names, ...image.digests] : [fullName(name)];
  const left = image.names.filter((one) => !untagged.includes(one));
  if (!byId && left.length > 0) {
    await file.write(removeNames(before, untagged));
    return { untagged };
  }
  const claim = uses.claim(image.id);
  if (claim === undefined) throw inUse(image, name);
  try {
    await removeWhole(work, before, image);
  } finally {
    claim.release();
  }
  return { untagged, deleted: image.id };
}

async function removeAll(
  work: Work,
  images: readonly LocalImage[],
): Promise<readonly LocalImage[]> {
  const removed: LocalImage[] = [];
  for (const image of images) {
    const index = await work.file.read();
    const stored = index.images.find(({ id }) => id === image.id);
    const claim = stored && work.uses.claim(image.id);
    if (stored === undefined || claim === undefined) continue;
    try {
      await removeWhole(work, index, stored);
      removed.push(image);
    } finally {
      claim.release();
    }
  }
  return removed;
}

/** The caller has claimed the image. First the list, then the blobs: what a crash leaves is swept. */
async function removeWhole(work: Work, before: ImageIndex, image: StoredImage): Promise<void> {
  const { file, blobs, uses, configs } = work;
  const after = removeImage(before, image.id);
  await file.write(after);
  const used = usedBlobs(after);
  for (const digest of usedBlobs({ images: [image] }))
    if (!used.has(digest)) await blobs.remove(digest);
  configs.delete(image.id);
  await uses.forget(image.id);
}

async function sweep(work: Work, before: number): Promise<void> {
  const lock = tryLockFile(lockPath(work), 'exclusive');
  if (lock === undefined) return;
  try {
    for (const name of await readdir(work.directory))
      if (isTemporary(name)) await rm(join(work.directory, name), { force: true });
    await work.blobs.sweep(usedBlobs(await work.file.read()), before);
  } finally {
    lock.release();
  }
}

const sizeOf = ({ configBytes, layers }: StoredImage): number => {
  const distinct = new Map(layers.map(({ digest, size }) => [digest, size]));
  return [...distinct.values()].reduce((sum, size) => sum + size, configBytes);
};

function find(index: ImageIndex, name: string): StoredImage | undefined {
  const byId = findById(index, name);
  if (byId !== undefined || name.startsWith('sha256:')) return byId;
  const full = fullName(name);
  return index.images.find(({ names, digests }) => names.includes(full) || digests.includes(full));
}

const fullName = (name: string): string => referenceText(parseReference(name));

const inUse = ({ id }: StoredImage, name: string): ImageError =>
  new ImageError(
    'ErrImagePull',
    'InUse',
    `cannot remove image ${name}: a container uses it (image ID ${id.slice(7, 19)})`,
  );

/** Configurations are small, and images few; each is read once. */
async function readConfig(
  blobs: ImageBlobs,
  cached: Map<string, ImageConfig>,
  id: string,
): Promise<ImageConfig> {
  const known = cached.get(id);
  if (known !== undefined) return known;
  const { config } = parseConfig((await blobs.read(id)).toString('utf8'));
  cached.set(id, config);
  return config;
}
