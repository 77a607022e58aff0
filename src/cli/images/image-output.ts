// What `fairlead image ls -o json` prints.
import type { LocalImage } from '../../images/image-store.ts';
import { formatTime } from '../../schema/time.ts';

export type ImageList = {
  readonly apiVersion: 'fairlead.dev/v1';
  readonly kind: 'ImageList';
  readonly items: readonly ImageItem[];
};

export type ImageItem = {
  readonly id: string;
  readonly names: readonly string[];
  readonly digests: readonly string[];
  readonly sizeBytes: number;
  readonly architecture: string;
  readonly pulledAt: string;
  readonly lastUsed: string;
};

export const imageList = (images: readonly LocalImage[]): ImageList => ({
  apiVersion: 'fairlead.dev/v1',
  kind: 'ImageList',
  items: sorted(images).map((image) => ({
    ...{ id: image.id, names: image.names, digests: image.digests, sizeBytes: image.sizeBytes },
    architecture: image.config.architecture,
    pulledAt: formatTime(image.pulledAt),
    lastUsed: formatTime(image.lastUsed),
  })),
});

/** By name; those without one at the end. */
export const sorted = (images: readonly LocalImage[]): readonly LocalImage[] =>
  [...images].sort((a, b) => {
    const [first = '\uffff', second = '\uffff'] = [a.names[0], b.names[0]];
    return first < second ? -1 : first > second ? 1 : 0;
  });

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** As Docker prints it: three digits, in powers of 1000. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : Number(value.toPrecision(3))}${units[unit]}`;
}
