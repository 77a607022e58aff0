// The images of a Node's status: the largest first, a limited number of each.
import type { LocalImage } from '../../images/image-store.ts';

/** Defaults of the kubelet: --node-status-max-images, and the constant MaxNamesPerImageInNodeStatus. */
const limits = { images: 50, names: 5 };

export type ImageStatus = { readonly names: readonly string[]; readonly sizeBytes: number };

export function imagesStatus(
  images: readonly Pick<LocalImage, 'names' | 'digests' | 'sizeBytes'>[],
): ImageStatus[] {
  return [...images]
    .sort((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, limits.images)
    .map(({ names, digests, sizeBytes }) => ({
      names: [...digests, ...names].slice(0, limits.names),
      sizeBytes,
    }));
}
