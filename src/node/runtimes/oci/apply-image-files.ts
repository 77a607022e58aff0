// Prepares the files of an image for one container: links to its layers for the overlay, or a copy where overlays do not work.
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { copyLayers } from '../../../images/copy-layers.ts';
import type { UnpackedImage } from '../../../images/image-store.ts';
import { type ImageFiles, stagingName } from '../sandbox/image-steps.ts';

export type OverlayOptions = {
  /** An existing directory of the container's own. */
  readonly directory: string;
  /** The container writes to it, and what it writes is in the directory. */
  readonly isWritable: boolean;
};

/** Upper, work and lower directories are in the container's own directory, and go with it. */
export function makeOverlay(
  { form, directories }: UnpackedImage,
  { directory, isWritable }: OverlayOptions,
): ImageFiles {
  const links = join(directory, 'layers');
  mkdirSync(links, { recursive: true, mode: 0o700 });
  // Top first. Without an upper directory an overlay has at least two layers, and some images have none.
  const layers = [...directories].reverse();
  for (const [index, layer] of layers.entries()) symlinkSync(layer, join(links, String(index)));
  const fillers = isWritable ? Math.max(1 - layers.length, 0) : Math.max(2 - layers.length, 0);
  for (let index = layers.length; index < layers.length + fillers; index += 1)
    mkdirSync(join(links, String(index)));
  const overlay = {
    kind: 'overlay',
    links,
    count: layers.length + fillers,
    isOfUser: form === 'user',
  } as const;
  if (!isWritable) return overlay;
  const upper = join(directory, 'upper');
  makeUpper(upper, layers[0]);
  mkdirSync(join(directory, 'work'), { mode: 0o700 });
  return { ...overlay, upper: '../upper', work: '../work' };
}

/** The root of a container has the owner and mode of the image's. */
function makeUpper(upper: string, top: string | undefined): void {
  mkdirSync(upper, { mode: 0o755 });
  if (top !== undefined) {
    const { mode, uid, gid } = statSync(top);
    chownSync(upper, uid, gid);
    chmodSync(upper, mode & 0o7777);
  }
  makeStaging(upper);
}

/** Each container has a copy of its own, also where it is read-only: layers stay as they are. */
export async function copyImage(
  unpacked: UnpackedImage,
  { directory, isWritable }: OverlayOptions,
): Promise<ImageFiles> {
  const path = join(directory, 'copy');
  mkdirSync(path, { mode: 0o755 });
  await copyLayers(unpacked, path, neverAborted);
  if (isWritable) makeStaging(path);
  return { kind: 'copy', path };
}

/** A start is not interrupted. */
const neverAborted = new AbortController().signal;

/** Hides what the image has of that name; in a copy, replaces it. */
function makeStaging(root: string): void {
  const path = join(root, stagingName);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { mode: 0o700 });
}
