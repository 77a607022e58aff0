// The directory of a store, readable by its user only.
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const parts = ['blobs', 'blobs/sha256', 'incoming', 'used', 'layers'];

export async function makeStoreDirectory(directory: string): Promise<void> {
  await makeDirectory(directory);
  for (const part of parts) await makeDirectory(join(directory, part));
}

/** One by one: mkdir({ recursive: true }) of Node.js loops forever below a directory that rejects children, such as /proc. */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path) throw error;
    await makeDirectory(parent);
    await makeDirectory(path);
  }
}
