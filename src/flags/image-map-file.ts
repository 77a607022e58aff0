// Reads the file that maps image names to commands and root directories.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type ImageMap, ImageMapError, parseImageMap } from '../node/runtimes/process/image-map.ts';
import { UsageError } from './command.ts';

/** Empty without --image-map. */
export async function readImageMap(file: string | undefined, cwd: string): Promise<ImageMap> {
  if (file === undefined) return {};
  try {
    return parseImageMap(await readFile(resolve(cwd, file), 'utf8'));
  } catch (error) {
    if (error instanceof ImageMapError) throw new UsageError(`${error.message}.`);
    throw new UsageError(`Cannot read the image map "${file}": ${(error as Error).message}.`);
  }
}
