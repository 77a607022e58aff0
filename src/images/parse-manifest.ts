// Manifests, indexes and configurations of images: OCI's and Docker's. They come from outside: every field is checked. Pure.
import type { ImageConfig } from './image-store.ts';
import { isDigest } from './parse-reference.ts';
import type { Platform } from './platform.ts';
import { maxLayers } from './unpack/limits.ts';

/** The limit of registries (4 MiB), for manifests and configurations. */
export const maxManifestBytes = 4 * 2 ** 20;
/** Images for more platforms do not exist. */
const maxIndexEntries = 1000;
/** Of one list in a configuration; the whole has a limit, too. */
const maxListLength = 10_000;

export type Descriptor = {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: Platform;
  readonly annotations: Readonly<Record<string, string>>;
};

export type Manifest = {
  readonly kind: 'manifest';
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
};

export type Index = { readonly kind: 'index'; readonly manifests: readonly Descriptor[] };

/** What was received is not an image, or not one for us. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

const manifestTypes = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
const indexTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];
export const acceptedTypes = [...manifestTypes, ...indexTypes].join(', ');
const schemaOne = /^application\/vnd\.docker\.distribution\.manifest\.v1\+/;
const configTypes = [
  'application/vnd.oci.image.config.v1+json',
  'application/vnd.docker.container.image.v1+json',
];
const layerTypes =
  /^application\/vnd\.(?:oci\.image\.layer\.v1\.tar|docker\.image\.rootfs\.diff\.tar)(?:[.+](?:gzip|zstd))?$/;

/** `contentType` is what the registry says it is, if it is known. */
export function parseManifest(text: string, contentType?: string): Manifest | Index {
  const value = parseObject(text, 'the manifest');
  const type = mediaTypeOf(value, contentType);
  if (schemaOne.test(type) || value.schemaVersion === 1)
    throw new ManifestError(
      'the image has a manifest of schema 1, which is not supported: build and push it again',
    );
  if (value.schemaVersion !== 2)
    throw new ManifestError(`the manifest has schemaVersion ${short(value.schemaVersion)}, want 2`);
  if (indexTypes.includes(type)) {
    const manifests = listOf(value.manifests, 'manifests', maxIndexEntries);
    return { kind: 'index', manifests: manifests.map((one) => descriptorOf(one, 'manifests')) };
  }
  if (!manifestTypes.includes(type))
    throw new ManifestError(`unexpected media type ${short(type)} for a manifest`);
  return imageManifest(value);
}

function imageManifest(value: Fields): Manifest {
  const config = descriptorOf(value.config, 'config');
  if (!configTypes.includes(config.mediaType))
    throw new ManifestError(
      `it is not a container image: its configuration has media type ${short(config.mediaType)}`,
    );
  if (config.size > maxManifestBytes)
    throw new ManifestError(`the configuration has ${config.size} bytes, more than 4 MiB`);
  const layers = listOf(value.layers, 'layers', maxLayers).map((one) =>
    descriptorOf(one, 'layers'),
  );
  for (const { mediaType } of layers) {
    if (layerTypes.test(mediaType)) continue;
    const why =
      mediaType.includes('foreign') || mediaType.includes('nondistributable')
        ? 'which registries do not store'
        : 'want a tar file, with or without gzip or zstd';
    throw new ManifestError(`a layer has media type ${short(mediaType)}, ${why}`);
  }
  return { kind: 'manifest', config, layers };
}

/** The body's own, if it has one: it is what the digest covers. */
function mediaTypeOf(value: Fields, contentType: string | undefined): string {
  const header = contentType?.split(';')[0]?.trim();
  const { mediaType } = value;
  if (typeof mediaType === 'string' && mediaType !== '') return mediaType;
  const known = [...manifestTypes, ...indexTypes];
  if (header !== undefined && (known.includes(header) || schemaOne.test(header))) return header;
  // OCI does not demand one.
  if ('manifests' in value && !('layers' in value)) return indexTypes[0] ?? '';
  if ('layers' in value && 'config' in value) return manifestTypes[0] ?? '';
  return header ?? '';
}

export type ParsedConfig = { readonly config: ImageConfig; readonly diffIds: readonly string[] };

export function parseConfig(text: string): ParsedConfig {
  const value = parseObject(text, 'the configuration');
  const rootfs = fieldsOf(value.rootfs, 'rootfs');
  const diffIds = stringsOf(rootfs.diff_ids, 'rootfs.diff_ids') ?? [];
  const wrong = diffIds.find((id) => !isDigest(id));
  if (wrong !== undefined)
    throw new ManifestError(`rootfs.diff_ids has ${short(wrong)}, which is not a SHA-256 digest`);
  if (diffIds.length > maxLayers)
    throw new ManifestError(`the image has ${diffIds.length} layers, more than ${maxLayers}`);
  const config = fieldsOf(value.config ?? {}, 'config');
  const entrypoint = stringsOf(config.Entrypoint, 'Entrypoint');
  const cmd = stringsOf(config.Cmd, 'Cmd');
  const user = textOf(config.User, 'User');
  const workingDir = textOf(config.WorkingDir, 'WorkingDir');
  const stopSignal = textOf(config.StopSignal, 'StopSignal');
  return {
    diffIds,
    config: {
      ...(entrypoint === undefined ? {} : { entrypoint }),
      ...(cmd === undefined ? {} : { cmd }),
      env: stringsOf(config.Env, 'Env') ?? [],
      ...(user === undefined ? {} : { user }),
      ...(workingDir === undefined ? {} : { workingDir }),
      ...(stopSignal === undefined ? {} : { stopSignal }),
      volumes: keysOf(config.Volumes, 'Volumes'),
      exposedPorts: keysOf(config.ExposedPorts, 'ExposedPorts'),
      labels: labelsOf(config.Labels),
      architecture: textOf(value.architecture, 'architecture') ?? '',
      os: textOf(value.os, 'os') ?? '',
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

function parseObject(text: string, what: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ManifestError(`${what} is not JSON`, { cause });
  }
  return fieldsOf(value, what);
}

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ManifestError(`${what} is not an object`);
  return value as Fields;
}

function descriptorOf(value: unknown, what: string): Descriptor {
  const { mediaType, digest, size, platform, annotations } = fieldsOf(value, what);
  if (typeof digest !== 'string' || !isDigest(digest))
    throw new ManifestError(`${what} has digest ${short(digest)}, want sha256 and 64 hex digits`);
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw new ManifestError(`${what} has size ${short(size)}, want a number of bytes`);
  return {
    ...{ digest, size, mediaType: textOf(mediaType, 'mediaType') ?? '' },
    ...(platform === undefined ? {} : { platform: platformOf(platform) }),
    annotations: labelsOf(annotations),
  };
}

function platformOf(value: unknown): Platform {
  const { os, architecture, variant } = fieldsOf(value, 'platform');
  const known = textOf(variant, 'variant');
  return {
    os: textOf(os, 'os') ?? '',
    architecture: textOf(architecture, 'architecture') ?? '',
    ...(known === undefined ? {} : { variant: known }),
  };
}

function listOf(value: unknown, what: string, max: number): readonly unknown[] {
  if (!Array.isArray(value)) throw new ManifestError(`${what} is not a list`);
  if (value.length > max)
    throw new ManifestError(`${what} has ${value.length} entries, more than ${max}`);
  return value;
}

/** Absent, null and empty are the same in images. */
function textOf(value: unknown, what: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw new ManifestError(`${what} is not a string`);
  if (value.includes('\0')) throw new ManifestError(`${what} contains a zero byte`);
  return value;
}

function stringsOf(value: unknown, what: string): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  return listOf(value, what, maxListLength).map((one) => {
    if (typeof one !== 'string' || one.includes('\0'))
      throw new ManifestError(`${what} has an entry that is not a string`);
    return one;
  });
}

function keysOf(value: unknown, what: string): readonly string[] {
  if (value === undefined || value === null) return [];
  const keys = Object.keys(fieldsOf(value, what));
  if (keys.length > maxListLength)
    throw new ManifestError(`${what} has ${keys.length} entries, more than ${maxListLength}`);
  return stringsOf(keys, what) ?? [];
}

function labelsOf(value: unknown): Readonly<Record<string, string>> {
  const labels = Object.entries(fieldsOf(value ?? {}, 'labels'));
  return Object.fromEntries(
    labels
      .slice(0, maxListLength)
      .filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}

/** For messages. */
const short = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 100);
