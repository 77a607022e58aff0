// The images of an archive: an OCI layout (index.json), or what `docker save` writes (manifest.json).
import {
  type Descriptor,
  type Manifest,
  ManifestError,
  parseConfig,
  parseManifest,
} from '../parse-manifest.ts';
import { isDigest, parseReference, referenceText } from '../parse-reference.ts';
import { choosePlatform, platformText } from '../platform.ts';
import type { StoredImage } from '../store/image-index.ts';
import { maxLayers } from '../unpack/limits.ts';
import { type ArchiveFiles, archiveError, type TakenBlob } from './archive-files.ts';

export type LoadOptions = {
  /** For images without a name in the archive. */
  readonly name?: string;
  readonly now: () => number;
};

/** More than an archive for one machine has. */
const maxImages = 500;
/** As in a pull. */
const maxIndexes = 2;

/** Throws ImageError. */
export async function loadImages(
  files: ArchiveFiles,
  options: LoadOptions,
): Promise<readonly StoredImage[]> {
  try {
    // Docker since version 25 writes both; its own has the names.
    const docker = await files.text('manifest.json');
    if (docker !== undefined) return await loadDocker(files, docker, options);
    const index = await files.text('index.json');
    if (index !== undefined) return await loadLayout(files, index, options);
  } catch (error) {
    if (error instanceof ManifestError) throw archiveError(error.message, { cause: error });
    throw error;
  }
  throw archiveError(
    'there is neither manifest.json, as docker save writes it, nor index.json of an OCI layout',
  );
}

async function loadDocker(
  files: ArchiveFiles,
  text: string,
  options: LoadOptions,
): Promise<readonly StoredImage[]> {
  const images: StoredImage[] = [];
  for (const { configPath, layerPaths, names } of parseDockerManifest(text)) {
    const config = await takeOrFail(files, configPath);
    const { diffIds } = parseConfig((await files.text(configPath)) ?? '');
    const layers: TakenBlob[] = [];
    for (const path of layerPaths) layers.push(await takeOrFail(files, path));
    images.push(storedImage({ config, diffIds, layers, names }, options));
  }
  return images;
}

type DockerImage = {
  readonly configPath: string;
  readonly layerPaths: readonly string[];
  readonly names: readonly string[];
};

function parseDockerManifest(text: string): readonly DockerImage[] {
  const list = parseJson(text, 'manifest.json');
  if (!Array.isArray(list) || list.length === 0 || list.length > maxImages)
    throw archiveError(`manifest.json is not a list of 1 to ${maxImages} images`);
  return list.map((image: { Config?: unknown; Layers?: unknown; RepoTags?: unknown } | null) => {
    const { Config: configPath, Layers: layerPaths, RepoTags: names } = image ?? {};
    if (typeof configPath !== 'string' || !isStrings(layerPaths) || layerPaths.length > maxLayers)
      throw archiveError('manifest.json has an image without a Config or a list of Layers');
    return { configPath, layerPaths, names: isStrings(names) ? names : [] };
  });
}

const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

async function loadLayout(
  files: ArchiveFiles,
  text: string,
  options: LoadOptions,
): Promise<readonly StoredImage[]> {
  const index = parseManifest(text, 'application/vnd.oci.image.index.v1+json');
  if (index.kind !== 'index') throw archiveError('index.json is not an index');
  if (index.manifests.length > maxImages)
    throw archiveError(`index.json has ${index.manifests.length} images, more than ${maxImages}`);
  const images: StoredImage[] = [];
  for (const descriptor of index.manifests) {
    const isOther = descriptor.platform !== undefined && !isForHere(descriptor);
    if (isOther && index.manifests.length > 1) continue;
    const manifest = await readManifest(files, descriptor);
    const config = await takeOrFail(files, blobPath(manifest.config), manifest.config);
    const { diffIds } = parseConfig((await files.text(blobPath(manifest.config))) ?? '');
    const layers: TakenBlob[] = [];
    for (const layer of manifest.layers)
      layers.push(await takeOrFail(files, blobPath(layer), layer));
    images.push(storedImage({ config, diffIds, layers, names: namesOf(descriptor) }, options));
  }
  if (images.length === 0) throw noPlatform();
  return images;
}

const isForHere = (descriptor: Descriptor): boolean =>
  choosePlatform([descriptor], process.arch) !== undefined;

const noPlatform = (): Error => archiveError(`it has no image for ${platformText(process.arch)}`);

async function readManifest(files: ArchiveFiles, top: Descriptor): Promise<Manifest> {
  let descriptor = top;
  for (let indexes = 0; indexes <= maxIndexes; indexes += 1) {
    const path = blobPath(descriptor);
    // Only what is taken is verified.
    await takeOrFail(files, path, descriptor);
    const parsed = parseManifest((await files.text(path)) ?? '', descriptor.mediaType);
    if (parsed.kind === 'manifest') return parsed;
    const chosen = choosePlatform(parsed.manifests, process.arch);
    if (chosen === undefined) throw noPlatform();
    descriptor = chosen;
  }
  throw archiveError('it has an index in an index in an index');
}

const blobPath = ({ digest }: Descriptor): string => `blobs/${digest.replace(':', '/')}`;

/** As containerd writes it; else the reference, where it is a whole name and not only a tag. */
function namesOf({ annotations }: Descriptor): readonly string[] {
  const name = annotations['io.containerd.image.name'];
  if (name !== undefined) return [name];
  const reference = annotations['org.opencontainers.image.ref.name'] ?? '';
  return /[/:]/.test(reference) ? [reference] : [];
}

async function takeOrFail(
  files: ArchiveFiles,
  path: string,
  expected?: TakenBlob,
): Promise<TakenBlob> {
  const wanted = expected && { digest: expected.digest, size: expected.size };
  const taken = await files.take(path, wanted);
  if (taken === undefined) throw archiveError(`it has no file ${path.slice(0, 200)}`);
  return taken;
}

type LoadedImage = {
  readonly config: TakenBlob;
  readonly diffIds: readonly string[];
  readonly layers: readonly TakenBlob[];
  readonly names: readonly string[];
};

function storedImage(
  { config, diffIds, layers, names }: LoadedImage,
  { name, now }: LoadOptions,
): StoredImage {
  if (diffIds.length !== layers.length)
    throw archiveError(
      `an image has ${layers.length} layers, and its configuration has ${diffIds.length}`,
    );
  const given = names.length === 0 && name !== undefined ? [name] : names;
  const references = given.map((one) => parseReference(one));
  const isNamed = references.every(({ digest }) => digest === undefined || !isDigest(digest));
  if (!isNamed) throw archiveError('an image has a digest as its name, want a name with a tag');
  return {
    id: config.digest,
    names: references.map(referenceText),
    digests: [],
    configBytes: config.size,
    layers: layers.map(({ digest, size }, at) => ({ digest, size, diffId: diffIds[at] ?? '' })),
    pulledAt: now(),
  };
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw archiveError(`${what} is not JSON`, { cause });
  }
}
