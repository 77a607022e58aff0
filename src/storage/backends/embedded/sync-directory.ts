import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes a file's name durable: syncing the file does not, where it was just made or renamed. */
export async function syncDirectoryOf(file: string): Promise<void> {
  const handle = await open(dirname(file), 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
