// A store of images in a directory of its own.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImageStore, ImageStoreOptions } from '../../../../src/images/image-store.ts';
import { openImageStore } from '../../../../src/images/open-image-store.ts';

export type TestStore = { readonly store: ImageStore; readonly directory: string };

/** For tests that end a pull themselves. */
export const never: AbortSignal = new AbortController().signal;

export async function withStore(
  use: (test: TestStore) => Promise<void>,
  options: Partial<ImageStoreOptions> = {},
): Promise<void> {
  const above = await mkdtemp(join(tmpdir(), 'fairlead-images-'));
  const directory = join(above, 'images');
  const store = await openImageStore({ directory, ...options });
  try {
    await use({ store, directory });
  } finally {
    await store.close();
    await rm(above, { recursive: true, force: true });
  }
}
