// Removes images that no container uses, until enough of the disk is free.
import { statfs } from 'node:fs/promises';
import type { GarbageOptions, GarbageResult, LocalImage } from './image-store.ts';
import { type DiskUse, selectGarbage } from './select-garbage.ts';
import type { ImageRecords } from './store/image-records.ts';
import type { UnpackedLayers } from './store/unpacked-layers.ts';

export type GarbageStore = {
  readonly directory: string;
  readonly records: ImageRecords;
  readonly layers: UnpackedLayers;
};

/** Under a kubelet, usage is that of the file system of the images. */
export async function removeGarbage(
  { directory, records, layers }: GarbageStore,
  options: GarbageOptions,
): Promise<GarbageResult> {
  const { signal } = options;
  const before = await readDisk(directory);
  const plan = selectGarbage(await records.list(), before, options);
  const removed: LocalImage[] = [];
  const remove = async (images: readonly LocalImage[]): Promise<void> => {
    removed.push(...(await records.removeImages(images, signal)));
    await layers.sweep(records.usedLayers);
  };
  await remove(plan.old);
  // What was fetched a moment ago may belong to an image that is still being pulled.
  if (plan.wantedBytes > 0) await records.sweep(options.now - options.minAgeMs);
  const freed = async (): Promise<number> =>
    Math.max((await readDisk(directory)).availableBytes - before.availableBytes, 0);
  for (const image of plan.candidates) {
    signal.throwIfAborted();
    if ((await freed()) >= plan.wantedBytes) break;
    await remove([image]);
  }
  return {
    ...{ removed, wantedBytes: plan.wantedBytes, usedPercent: plan.usedPercent },
    freedBytes: await freed(),
  };
}

async function readDisk(directory: string): Promise<DiskUse> {
  const { bsize, blocks, bavail } = await statfs(directory);
  return { capacityBytes: bsize * blocks, availableBytes: bsize * bavail };
}
