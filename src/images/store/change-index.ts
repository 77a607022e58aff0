// Changes of the list of images. Pure.
import { goQuote } from '../../schema/go-quote.ts';
import { ImageError } from '../image-error.ts';
import { type ImageIndex, maxImages, type StoredImage } from './image-index.ts';

/** A name belongs to one image: another that had it loses it. */
export function addImage(index: ImageIndex, added: StoredImage): ImageIndex {
  const before = index.images.find(({ id }) => id === added.id);
  const others = index.images
    .filter(({ id }) => id !== added.id)
    .map((image) => withoutNames(image, added.names));
  if (others.length >= maxImages)
    throw new ImageError(
      'ErrImagePull',
      'ResourceExhausted',
      `the store has ${others.length} images already, and room for ${maxImages}`,
    );
  return {
    images: [
      ...others,
      {
        ...added,
        names: [...new Set([...(before?.names ?? []), ...added.names])],
        digests: [...new Set([...(before?.digests ?? []), ...added.digests])],
      },
    ],
  };
}

function withoutNames(image: StoredImage, names: readonly string[]): StoredImage {
  if (!image.names.some((name) => names.includes(name))) return image;
  return { ...image, names: image.names.filter((name) => !names.includes(name)) };
}

export const removeImage = ({ images }: ImageIndex, removed: string): ImageIndex => ({
  images: images.filter(({ id }) => id !== removed),
});

export const removeNames = ({ images }: ImageIndex, names: readonly string[]): ImageIndex => ({
  images: images.map((image) => withoutNames(image, names)),
});

const minIdLength = 12;
const hexDigits = /^[a-f0-9]{12,64}$/;

/** By ID or the beginning of one; undefined if `text` is none. Throws where several begin so. */
export function findById({ images }: ImageIndex, text: string): StoredImage | undefined {
  const hex = text.startsWith('sha256:') ? text.slice('sha256:'.length) : text;
  if (hex.length < minIdLength || !hexDigits.test(hex)) return undefined;
  const found = images.filter(({ id }) => id.startsWith(`sha256:${hex}`));
  if (found.length > 1)
    throw new ImageError(
      'InvalidImageName',
      'InvalidArgument',
      `${goQuote(text)} is the beginning of ${found.length} image IDs: write more of it`,
    );
  return found[0];
}

/** Digests of blobs that images need. */
export const usedBlobs = ({ images }: ImageIndex): ReadonlySet<string> =>
  new Set(images.flatMap(({ id, layers }) => [id, ...layers.map(({ digest }) => digest)]));
