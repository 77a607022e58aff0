// Which images to remove, as a kubelet decides it (pkg/kubelet/images/image_gc_manager.go). Pure.
import type { GarbageOptions, LocalImage } from './image-store.ts';

export type DiskUse = { readonly capacityBytes: number; readonly availableBytes: number };

export type GarbagePlan = {
  /** Unused for too long, whatever the disk. */
  readonly old: readonly LocalImage[];
  /** In the order in which they are removed until enough is free. */
  readonly candidates: readonly LocalImage[];
  readonly wantedBytes: number;
  readonly usedPercent: number;
};

type Thresholds = Omit<GarbageOptions, 'signal'>;

export function selectGarbage(
  images: readonly LocalImage[],
  { capacityBytes, availableBytes }: DiskUse,
  { highThresholdPercent, lowThresholdPercent, minAgeMs, maxAgeMs, now, inUse }: Thresholds,
): GarbagePlan {
  const unused = images
    .filter(({ id }) => !inUse.has(id))
    .sort((a, b) => a.lastUsed - b.lastUsed || a.pulledAt - b.pulledAt);
  const old = maxAgeMs > 0 ? unused.filter(({ lastUsed }) => now - lastUsed > maxAgeMs) : [];
  const usedPercent =
    capacityBytes > 0 ? 100 - Math.floor((availableBytes * 100) / capacityBytes) : 0;
  const isFull = usedPercent >= highThresholdPercent;
  const wanted = (capacityBytes * (100 - lowThresholdPercent)) / 100 - availableBytes;
  return {
    old,
    candidates: isFull
      ? unused.filter((image) => !old.includes(image) && now - image.pulledAt >= minAgeMs)
      : [],
    wantedBytes: isFull ? Math.max(Math.floor(wanted), 0) : 0,
    usedPercent,
  };
}
