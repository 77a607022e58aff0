// Pulls one image: its manifest, the one for this machine, its configuration, and its layers, a few at a time.
import { setMaxListeners } from 'node:events';
import { goQuote } from '../../schema/go-quote.ts';
import { ImageError, isImageError } from '../image-error.ts';
import type { PullOptions, PullProgress } from '../image-store.ts';
import { lookUpLogins, type RegistryLogin } from '../keyring.ts';
import {
  type Descriptor,
  type Manifest,
  ManifestError,
  maxManifestBytes,
  parseConfig,
  parseManifest,
} from '../parse-manifest.ts';
import { type Reference, referenceText, repositoryOf } from '../parse-reference.ts';
import { choosePlatform, platformText } from '../platform.ts';
import { endpointsOf } from '../registry/endpoints.ts';
import { openEndpoint } from '../registry/open-endpoint.ts';
import { type OpenRegistry, openRegistry } from '../registry/open-registry.ts';
import { isRegistryError } from '../registry/registry-error.ts';
import type { Connections } from '../registry/send-request.ts';
import type { RegistrySettings } from '../registry-settings.ts';
import type { ImageBlobs } from '../store/image-blobs.ts';
import type { StoredImage, StoredLayer } from '../store/image-index.ts';
import { explainFailure } from './explain-failure.ts';
import { countProgress } from './pull-progress.ts';

export type PullEnvironment = {
  readonly blobs: ImageBlobs;
  readonly connections: Connections;
  readonly registries: RegistrySettings;
  readonly maxImageBytes: number;
  readonly now: () => number;
  /** An image with this digest of its registry (`docker.io/library/nginx@sha256:...`) that is complete here. */
  readonly findByDigest: (digest: string) => Promise<StoredImage | undefined>;
};

/** As of containerd. */
const parallelLayers = 3;
/** An index in an index is allowed; more is a loop of mistakes. */
const maxIndexes = 2;

/** All blobs are here when it resolves, but not protected from removal: the caller checks them under the lock of the store. Throws ImageError. */
export async function pullImage(
  environment: PullEnvironment,
  reference: Reference,
  options: PullOptions,
): Promise<StoredImage> {
  const { keyring = [], signal } = options;
  const logins = lookUpLogins(keyring, repositoryOf(reference));
  // As a kubelet does: with credentials that fit, nothing is tried without.
  const attempts: readonly (RegistryLogin | undefined)[] = logins.length > 0 ? logins : [undefined];
  for (const [at, login] of attempts.entries()) {
    try {
      return await pullWith(environment, reference, options, login);
    } catch (error) {
      signal.throwIfAborted();
      if (at + 1 < attempts.length && isImageError(error, 'PermissionDenied')) continue;
      throw error;
    }
  }
  throw new Error('unreachable: there is always an attempt');
}

async function pullWith(
  environment: PullEnvironment,
  reference: Reference,
  options: PullOptions,
  login: RegistryLogin | undefined,
): Promise<StoredImage> {
  const { connections, registries, now } = environment;
  const { keyring = [] } = options;
  const ended = new AbortController();
  const abort = (): void => ended.abort(options.signal.reason);
  options.signal.addEventListener('abort', abort, { once: true });
  if (options.signal.aborted) abort();
  const { signal } = ended;
  // Every layer and every request listens.
  setMaxListeners(0, signal);
  const endpoints = endpointsOf(reference, registries).map((endpoint) =>
    openEndpoint({
      ...{ endpoint, connections, signal, repository: reference.path },
      // Credentials are for one host: mirrors have their own.
      login:
        endpoint.namespace === undefined
          ? login
          : lookUpLogins(keyring, `${endpoint.host}/${reference.path}`)[0],
    }),
  );
  const registry = openRegistry({ endpoints, stallMs: connections.stallMs, now, signal });
  const name = referenceText(reference);
  let step: 'resolve' | 'copy' = 'resolve';
  try {
    const known = await findKnown(environment, reference, registry);
    if (known !== undefined) return known;
    const resolved = await resolveManifest(registry, reference);
    step = 'copy';
    return await fetchAll(environment, { reference, registry, ended, ...resolved }, options);
  } catch (error) {
    options.signal.throwIfAborted();
    throw explainFailure(error, name, step);
  } finally {
    options.signal.removeEventListener('abort', abort);
  }
}

/** By HEAD, which registries do not count as a pull. Those who may not pull the image are refused, also where it is here. */
async function findKnown(
  { findByDigest }: PullEnvironment,
  reference: Reference,
  registry: OpenRegistry,
): Promise<StoredImage | undefined> {
  const { tag, digest } = reference;
  let resolved: string | undefined;
  try {
    resolved = await registry.resolve(digest ?? tag ?? 'latest');
  } catch (error) {
    // Not all registries know HEAD.
    if (!isRegistryError(error, 'invalid')) throw error;
  }
  if (resolved === undefined || (digest !== undefined && digest !== resolved)) return undefined;
  const found = await findByDigest(`${repositoryOf(reference)}@${resolved}`);
  const names = digest === undefined ? [referenceText(reference)] : [];
  return found && { ...found, names, digests: [] };
}

type Resolved = { readonly manifest: Manifest; readonly digest: string };

async function resolveManifest(registry: OpenRegistry, reference: Reference): Promise<Resolved> {
  let received = await registry.manifest(reference.digest ?? reference.tag ?? 'latest');
  const { digest } = received;
  for (let indexes = 0; ; indexes += 1) {
    const parsed = parseManifest(received.text, received.contentType);
    if (parsed.kind === 'manifest') return { manifest: parsed, digest };
    if (indexes >= maxIndexes) throw new ManifestError('the index has an index in an index');
    const chosen = choosePlatform(parsed.manifests, process.arch);
    if (chosen === undefined)
      throw new ImageError(
        'ErrImagePull',
        'NotFound',
        `no match for platform in manifest: not found (it has ${platformsOf(parsed.manifests)}, want ${platformText(process.arch)})`,
      );
    if (chosen.size > maxManifestBytes)
      throw new ManifestError(`a manifest has ${chosen.size} bytes, more than 4 MiB`);
    received = await registry.manifest(chosen.digest);
  }
}

function platformsOf(manifests: readonly Descriptor[]): string {
  const names = manifests.flatMap(({ platform }) =>
    platform === undefined ? [] : [`${platform.os}/${platform.architecture}`],
  );
  const shown = [...new Set(names)].slice(0, 10);
  return shown.length === 0 ? 'none' : goQuote(shown.join(' '));
}

type ToFetch = Resolved & {
  readonly reference: Reference;
  readonly registry: OpenRegistry;
  readonly ended: AbortController;
};

async function fetchAll(
  environment: PullEnvironment,
  { reference, registry, ended, manifest, digest }: ToFetch,
  { onProgress = () => {} }: PullOptions,
): Promise<StoredImage> {
  const { blobs, now } = environment;
  const { config, layers } = manifest;
  checkTotal(manifest, environment.maxImageBytes);
  await blobs.receive(
    { ...config, what: 'config', read: (offset) => registry.blob(config, offset) },
    ended.signal,
  );
  const { diffIds } = parseConfig((await blobs.read(config.digest)).toString('utf8'));
  if (diffIds.length !== layers.length)
    throw new ManifestError(
      `the configuration has ${diffIds.length} layers, the manifest ${layers.length}`,
    );
  await fetchLayers(environment, { registry, layers, ended, onProgress });
  const hasTag = reference.digest === undefined;
  return {
    id: config.digest,
    names: hasTag ? [referenceText(reference)] : [],
    digests: [`${repositoryOf(reference)}@${digest}`],
    configBytes: config.size,
    layers: layers.map(
      (layer, at): StoredLayer => ({
        ...{ digest: layer.digest, size: layer.size, diffId: diffIds[at] ?? '' },
      }),
    ),
    pulledAt: now(),
  };
}

function checkTotal({ layers }: Manifest, maxImageBytes: number): void {
  const total = layers.reduce((sum, { size }) => sum + size, 0);
  if (total > maxImageBytes)
    throw new ImageError(
      'ErrImagePull',
      'ResourceExhausted',
      `the image has ${total} bytes of layers, more than ${maxImageBytes}`,
    );
}

type LayersToFetch = {
  readonly registry: OpenRegistry;
  readonly layers: readonly Descriptor[];
  /** Ends all requests of this pull. */
  readonly ended: AbortController;
  readonly onProgress: (progress: PullProgress) => void;
};

/** The first failure ends the others; they are over when it throws. */
async function fetchLayers(
  { blobs, now }: PullEnvironment,
  { registry, layers, ended, onProgress }: LayersToFetch,
): Promise<void> {
  const distinct = [...new Map(layers.map((layer) => [layer.digest, layer])).values()];
  const counted = await Promise.all(
    distinct.map(async ({ digest, size }) => ({
      ...{ digest, size, isHere: (await blobs.size(digest)) !== undefined },
    })),
  );
  const progress = countProgress(counted, onProgress, now);
  const queue = counted.filter(({ isHere }) => !isHere);
  const fetchNext = async (): Promise<void> => {
    for (let layer = queue.shift(); layer !== undefined; layer = queue.shift()) {
      const { digest, size } = layer;
      const read = (offset: number) => registry.blob({ digest, size }, offset);
      const received = (bytes: number): void => progress.received(digest, bytes);
      await blobs.receive({ digest, size, what: 'layer', read, received }, ended.signal);
      progress.done(digest);
    }
  };
  await Promise.allSettled(
    Array.from({ length: parallelLayers }, () =>
      fetchNext().catch((error: unknown) => ended.abort(error)),
    ),
  );
  progress.finish();
  ended.signal.throwIfAborted();
}
