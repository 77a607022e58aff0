// The flags of a node for images, as of the kubelet.
import { type Command, Option } from 'commander';
import type { ImageCollection } from '../node/images/run-node-images.ts';
import { UsageError } from './command.ts';
import { bool, duration, formatDuration, wholeNumber } from './parse-values.ts';

export type ImageFlags = {
  readonly serializeImagePulls: boolean;
  readonly maxParallelImagePulls?: number;
  readonly imageGcHighThreshold: number;
  readonly imageGcLowThreshold: number;
  /** In milliseconds. */
  readonly minimumImageTtlDuration: number;
};

const minuteMs = 60_000;
const percent = wholeNumber({ min: 0, max: 100 });

export function addImageFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--serialize-image-pulls <true|false>', 'Pulls one image after the other')
        .argParser(bool)
        .default(true),
    )
    .addOption(
      new Option(
        '--max-parallel-image-pulls <count>',
        'Maximum number of images that are pulled at the same time, with --serialize-image-pulls=false (default: no limit)',
      ).argParser(wholeNumber({ min: 1, max: 1000 })),
    )
    .addOption(
      new Option(
        '--image-gc-high-threshold <percent>',
        'Disk usage above which unused images are removed',
      )
        .argParser(percent)
        .default(85),
    )
    .addOption(
      new Option(
        '--image-gc-low-threshold <percent>',
        'Disk usage to which unused images are removed',
      )
        .argParser(percent)
        .default(80),
    )
    .addOption(
      new Option(
        '--minimum-image-ttl-duration <time>',
        'Age below which unused images are not removed',
      )
        .argParser(duration())
        .default(2 * minuteMs, formatDuration(2 * minuteMs)),
    );
}

/** Throws UsageError. */
export function imageOptions(flags: ImageFlags): {
  readonly maxParallelPulls?: number;
  readonly collection: ImageCollection;
} {
  const { imageGcHighThreshold: high, imageGcLowThreshold: low } = flags;
  if (low >= high) {
    throw new UsageError(
      `--image-gc-low-threshold: ${low} must be less than --image-gc-high-threshold, which is ${high}.`,
    );
  }
  const { serializeImagePulls, maxParallelImagePulls } = flags;
  if (serializeImagePulls && (maxParallelImagePulls ?? 1) > 1) {
    throw new UsageError(
      `--max-parallel-image-pulls: ${maxParallelImagePulls} needs --serialize-image-pulls=false.`,
    );
  }
  const maxParallelPulls = serializeImagePulls ? 1 : maxParallelImagePulls;
  return {
    ...(maxParallelPulls === undefined ? {} : { maxParallelPulls }),
    collection: {
      ...{ highThresholdPercent: high, lowThresholdPercent: low },
      ...{ minAgeMs: flags.minimumImageTtlDuration, maxAgeMs: 0 },
    },
  };
}
