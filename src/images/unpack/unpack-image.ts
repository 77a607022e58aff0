// All layers of an image as directories: those that are not there yet are unpacked, a few at a time, the large ones with what the smaller have left.
import { ImageError } from '../image-error.ts';
import type { LocalImage, UnpackedImage } from '../image-store.ts';
import { explainUnpack } from '../pull/explain-failure.ts';
import type { ImageBlobs } from '../store/image-blobs.ts';
import type { StoredImage } from '../store/image-index.ts';
import type { UnpackedLayers } from '../store/unpacked-layers.ts';
import type { UnpackLimits } from './limits.ts';

export type UnpackOptions = {
  readonly layers: UnpackedLayers;
  readonly blobs: ImageBlobs;
  readonly limits: UnpackLimits & { readonly maxImageBytes: number };
  readonly signal: AbortSignal;
};

/** Throws ImageError. */
export async function unpackImage(
  image: LocalImage,
  stored: StoredImage,
  { layers, blobs, limits, signal }: UnpackOptions,
): Promise<UnpackedImage> {
  const name = image.names[0] ?? image.digests[0] ?? image.id;
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  let total = 0;
  const unpackOne = async ({ diffId, digest }: StoredImage['layers'][number]): Promise<string> => {
    try {
      const job = { diffId, blob: blobs.path(digest), limits };
      const { directory, tarBytes } = await layers.ensure(job, either);
      total += tarBytes;
      if (total > limits.maxImageBytes)
        throw new ImageError(
          'ErrImagePull',
          'ResourceExhausted',
          `failed to pull and unpack image "${name}": it unpacks to more than ${limits.maxImageBytes} bytes`,
        );
      return directory;
    } catch (error) {
      const explained = explainUnpack(error, name, diffId);
      ended.abort(explained);
      throw explained;
    }
  };
  const results = await Promise.allSettled(stored.layers.map(unpackOne));
  signal.throwIfAborted();
  ended.signal.throwIfAborted();
  return {
    form: layers.form,
    directories: results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
  };
}
