// The repository of one image during one pull: manifests and blobs from the first endpoint that has them.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { acceptedTypes, maxManifestBytes } from '../parse-manifest.ts';
import { isDigest } from '../parse-reference.ts';
import type { OpenEndpoint } from './open-endpoint.ts';
import { describeFailure, isRegistryError, RegistryError } from './registry-error.ts';
import { type RegistryResponse, readBody } from './send-request.ts';

export type ReceivedManifest = {
  readonly text: string;
  readonly digest: string;
  readonly contentType?: string;
};

export type OpenRegistry = {
  /** The digest of a tag (or whether there is one) without its manifest; undefined where the registry does not say. */
  readonly resolve: (reference: string) => Promise<string | undefined>;
  /** By tag or digest; by digest it is verified. */
  readonly manifest: (reference: string) => Promise<ReceivedManifest>;
  /** Continues where a connection ended. Exactly as many bytes as promised, which are not verified. */
  readonly blob: (blob: BlobRequest, offset: number) => AsyncIterable<Buffer>;
};

export type BlobRequest = { readonly digest: string; readonly size: number };

export type RegistryOptions = {
  /** In the order in which they are tried. */
  readonly endpoints: readonly OpenEndpoint[];
  readonly stallMs: number;
  readonly now: () => number;
  readonly signal: AbortSignal;
};

export function openRegistry(options: RegistryOptions): OpenRegistry {
  let { endpoints } = options;
  /** The one that has the manifest has the blobs. */
  const prefer = (found: OpenEndpoint): void => {
    endpoints = [found, ...endpoints.filter((other) => other !== found)];
  };
  return {
    resolve: async (reference) => {
      const [response] = await firstAnswer(endpoints, (endpoint) =>
        endpoint.get(`manifests/${reference}`, { accept: acceptedTypes }, 'HEAD'),
      );
      response.body.destroy();
      const digest = response.header('docker-content-digest');
      return digest !== undefined && isDigest(digest) ? digest : undefined;
    },
    manifest: async (reference) => {
      const [manifest, endpoint] = await firstAnswer(endpoints, (one) =>
        readManifest(one, reference, options.stallMs),
      );
      prefer(endpoint);
      return manifest;
    },
    blob: (blob, offset) => readBlob(options, () => endpoints, blob, offset),
  };
}

/** The error is that of the last one: the registry itself, after its mirrors. */
async function firstAnswer<T>(
  endpoints: readonly OpenEndpoint[],
  ask: (endpoint: OpenEndpoint) => Promise<T>,
): Promise<readonly [T, OpenEndpoint]> {
  let last: unknown = new RegistryError('unreachable', 'the image has no registry');
  for (const endpoint of endpoints) {
    try {
      return [await ask(endpoint), endpoint];
    } catch (error) {
      if (!(error instanceof RegistryError)) throw error;
      last = error;
    }
  }
  throw last;
}

async function readManifest(
  endpoint: OpenEndpoint,
  reference: string,
  stallMs: number,
): Promise<ReceivedManifest> {
  const response = await endpoint.get(`manifests/${reference}`, { accept: acceptedTypes });
  refuseEncoding(response);
  const body = await readBody(response, { maxBytes: maxManifestBytes, stallMs });
  const digest = `sha256:${createHash('sha256').update(body).digest('hex')}`;
  if (isDigest(reference) && digest !== reference)
    throw new RegistryError(
      'invalid',
      `${response.title}: unexpected digest ${digest}, expected ${reference}`,
    );
  const contentType = response.header('content-type');
  return {
    ...{ digest, text: body.toString('utf8') },
    ...(contentType === undefined ? {} : { contentType }),
  };
}

function refuseEncoding({ header, body, title }: RegistryResponse): void {
  const encoding = header('content-encoding') ?? 'identity';
  if (encoding === 'identity') return;
  body.destroy();
  throw new RegistryError(
    'invalid',
    `${title}: the answer has content-encoding ${encoding.slice(0, 50)}`,
  );
}

/** Attempts without a new byte, over all endpoints. */
const maxAttempts = 5;
const firstDelayMs = 200;

async function* readBlob(
  options: RegistryOptions,
  endpoints: () => readonly OpenEndpoint[],
  blob: BlobRequest,
  offset: number,
): AsyncGenerator<Buffer, void> {
  let position = offset;
  let attempts = 0;
  while (position < blob.size) {
    const list = endpoints();
    const endpoint = list[attempts % list.length];
    if (endpoint === undefined) return;
    const before = position;
    try {
      for await (const bytes of readFrom(options, endpoint, blob, position)) {
        position += bytes.length;
        yield bytes;
      }
    } catch (error) {
      attempts = position > before ? 1 : attempts + 1;
      if (!isTriedAgain(error, attempts, list.length)) throw error;
      await sleep(firstDelayMs * 2 ** (attempts - 1), undefined, { signal: options.signal });
    }
  }
}

/** By another endpoint whatever the error, by the same one only if it was the connection. */
function isTriedAgain(error: unknown, attempts: number, endpoints: number): boolean {
  if (!(error instanceof RegistryError)) return false;
  const isTemporary = isRegistryError(error, 'unreachable', 'stalled');
  return attempts < endpoints || (isTemporary && attempts < maxAttempts);
}

/** What a usable connection brings in any time of `stallMs`: less is a registry that holds connections open. */
const minBytesPerStall = 16 * 1024;

async function* readFrom(
  { stallMs, now }: RegistryOptions,
  endpoint: OpenEndpoint,
  { digest, size }: BlobRequest,
  position: number,
): AsyncGenerator<Buffer, void> {
  const range = position === 0 ? {} : { range: `bytes=${position}-` };
  const response = await endpoint.get(`blobs/${digest}`, range);
  const { body, title } = response;
  try {
    refuseEncoding(response);
    let skipped = position - startOf(response, position);
    let left = size - position;
    checkLength(response, left + skipped, size);
    let window = { start: now(), bytes: 0 };
    for await (const part of body as AsyncIterable<Buffer>) {
      window = slide(window, part.length, now(), { stallMs, title });
      const bytes = part.subarray(Math.min(skipped, part.length));
      skipped -= part.length - bytes.length;
      if (bytes.length > left) throw wrongSize(size - left + bytes.length, size);
      left -= bytes.length;
      if (bytes.length > 0) yield bytes;
    }
    if (left > 0) throw wrongSize(size - left, size);
  } catch (error) {
    throw error instanceof RegistryError ? error : describeFailure(error as Error, title);
  } finally {
    body.destroy();
  }
}

/** Registries that know no ranges send all of it. */
function startOf({ status, header, title }: RegistryResponse, position: number): number {
  if (status !== 206) return 0;
  const [, start] = /^bytes (\d{1,16})-/.exec(header('content-range') ?? '') ?? [];
  if (Number(start) === position) return position;
  throw new RegistryError('invalid', `${title}: the answer does not begin at byte ${position}`);
}

function checkLength({ header }: RegistryResponse, expected: number, size: number): void {
  const length = header('content-length');
  if (length !== undefined && Number(length) !== expected)
    throw wrongSize(size - expected + Number(length), size);
}

/** As containerd says it. */
const wrongSize = (found: number, size: number): RegistryError =>
  new RegistryError('invalid', `failed size validation: ${found} != ${size}: failed precondition`);

type Window = { readonly start: number; readonly bytes: number };

function slide(
  { start, bytes }: Window,
  added: number,
  now: number,
  { stallMs, title }: { readonly stallMs: number; readonly title: string },
): Window {
  const total = bytes + added;
  if (now - start < stallMs) return { start, bytes: total };
  if (total >= minBytesPerStall) return { start: now, bytes: 0 };
  throw new RegistryError('stalled', `${title}: only ${total} bytes in ${now - start} ms`);
}
