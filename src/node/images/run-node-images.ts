// The images of a node: pulls for its pods, what its status says about them, and the removal of what no container uses.
import { type Clock, sleep } from '../../host/clock.ts';
import { isImageError } from '../../images/image-error.ts';
import type { ImageStore } from '../../images/image-store.ts';
import type { Keyring } from '../../images/keyring.ts';
import type { NodeStatus } from '../../kinds/node/types.ts';
import type { Log } from '../../observe/log.ts';
import { imagesStatus } from './images-status.ts';
import { createImagePulls, type ImagePulls } from './run-pulls.ts';

export type NodeImages = {
  readonly pulls: ImagePulls;
  /** Credentials of the node itself, after those of pods. */
  readonly keyring: () => Keyring;
  /** For the Node; as of the last change or collection. */
  readonly status: () => NonNullable<NodeStatus['images']>;
  /** The listener is called when the status has changed. */
  readonly onChange: (listener: () => void) => void;
  /** Resolves when the signal has aborted and nothing is under way. */
  readonly ended: Promise<void>;
};

/** As the kubelet's flags of the same names. */
export type ImageCollection = {
  readonly highThresholdPercent: number;
  readonly lowThresholdPercent: number;
  readonly minAgeMs: number;
  readonly maxAgeMs: number;
};

export type NodeImagesOptions = {
  readonly store: ImageStore;
  readonly keyring?: () => Keyring;
  /** Absent: any number at the same time. */
  readonly maxParallelPulls?: number;
  readonly collection: ImageCollection;
};

export type NodeImagesParts = {
  readonly clock: Clock;
  readonly log: Log;
  /** An event of the Node. */
  readonly report: (reason: string, message: string) => void;
};

/** As in the kubelet. */
const collectionMs = 300_000;

export function startNodeImages(
  { store, keyring = () => [], maxParallelPulls, collection }: NodeImagesOptions,
  parts: NodeImagesParts,
  signal: AbortSignal,
): NodeImages {
  const { clock, log } = parts;
  const listeners: (() => void)[] = [];
  let status: ReturnType<NodeImages['status']> = [];
  const refresh = async (): Promise<void> => {
    const found = imagesStatus(await store.list());
    if (JSON.stringify(found) === JSON.stringify(status)) return;
    status = found;
    for (const listener of listeners) listener();
  };
  const quietly = (work: Promise<void>, message: string): Promise<void> =>
    work.catch((error: unknown) => {
      if (!signal.aborted) log.warn(message, { error: String(error) });
    });
  const pulls = createImagePulls({
    ...{ store, now: clock.now },
    ...(maxParallelPulls === undefined ? {} : { maxParallel: maxParallelPulls }),
    changed: () => void quietly(refresh(), 'Failed to list images'),
  });
  const run = async (): Promise<void> => {
    await quietly(refresh(), 'Failed to list images');
    while (!signal.aborted) {
      await sleep(clock, collectionMs, signal);
      if (signal.aborted) return;
      await quietly(collect(store, collection, parts, signal), 'Failed to remove images');
      await quietly(refresh(), 'Failed to list images');
    }
  };
  return {
    pulls,
    keyring,
    status: () => status,
    onChange: (listener) => listeners.push(listener),
    ended: run(),
  };
}

/** Upstream: pkg/kubelet/images/image_gc_manager.go. */
async function collect(
  store: ImageStore,
  collection: ImageCollection,
  { clock, log, report }: NodeImagesParts,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { removed, freedBytes, wantedBytes, usedPercent } = await store.collectGarbage({
      ...collection,
      now: clock.now(),
      // Every container holds its image in the store.
      inUse: new Set(),
      signal,
    });
    if (removed.length > 0) log.info('Removed images', { count: removed.length, freedBytes });
    if (freedBytes >= wantedBytes) return;
    report(
      'FreeDiskSpaceFailed',
      `Failed to garbage collect required amount of images. Attempted to free ${wantedBytes} bytes, but only found ${freedBytes} bytes eligible to free.`,
    );
    log.warn('Disk is full, and no more images can be removed', { usedPercent });
  } catch (error) {
    if (!isImageError(error, 'Aborted')) throw error;
  }
}
