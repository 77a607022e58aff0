// Who uses an image: a shared lock on a file of it, which ends with its process. When it was last used is the time of the file.
import { futimesSync } from 'node:fs';
import { rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileLock, tryLockFile } from '../../host/lock-file.ts';

export type ImageUses = {
  /** Undefined while the image is being removed. Several uses by one process share a lock. */
  readonly start: (id: string) => { readonly release: () => void } | undefined;
  /** Undefined if the image is in use. The caller removes the image, and then releases. */
  readonly claim: (id: string) => FileLock | undefined;
  readonly lastUsed: (id: string) => Promise<number | undefined>;
  readonly touch: (id: string) => Promise<void>;
  readonly forget: (id: string) => Promise<void>;
  readonly close: () => void;
};

export function openUses(directory: string, now: () => number): ImageUses {
  const path = (id: string): string => join(directory, id.slice('sha256:'.length));
  const held = new Map<string, { readonly lock: FileLock; count: number }>();
  const end = (id: string): void => {
    const use = held.get(id);
    if (use === undefined) return;
    use.count -= 1;
    if (use.count > 0) return;
    held.delete(id);
    const seconds = now() / 1000;
    futimesSync(use.lock.descriptor, seconds, seconds);
    use.lock.release();
  };
  return {
    start: (id) => {
      const use = held.get(id);
      const lock = use?.lock ?? tryLockFile(path(id), 'shared');
      if (lock === undefined) return undefined;
      held.set(id, { lock, count: (use?.count ?? 0) + 1 });
      let isReleased = false;
      return {
        release: () => {
          if (!isReleased) end(id);
          isReleased = true;
        },
      };
    },
    claim: (id) => tryLockFile(path(id), 'exclusive'),
    lastUsed: async (id) => {
      try {
        return (await stat(path(id))).mtimeMs;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    touch: async (id) => {
      const lock = tryLockFile(path(id), 'shared');
      lock?.release();
      if (lock !== undefined) await utimes(path(id), now() / 1000, now() / 1000);
    },
    forget: (id) => rm(path(id), { force: true }),
    close: () => {
      for (const { lock } of held.values()) lock.release();
      held.clear();
    },
  };
}
