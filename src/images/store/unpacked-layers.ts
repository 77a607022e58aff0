// Layers as directories, each unpacked once for all who have the store open, whatever becomes of the process that does it.
import { readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setAttribute } from '../../host/extended-attributes.ts';
import { lockFile, tryLockFile } from '../../host/lock-file.ts';
import { closeDescriptor } from '../../host/native.ts';
import { openPath } from '../../host/open-beneath.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { createNode, openTreeDirectory, removeEntry } from '../../host/tree-entries.ts';
import type { LayerForm } from '../image-store.ts';
import type { UnpackLimits } from '../unpack/limits.ts';
import { type OwnerMap, parseIdMap } from '../unpack/map-owner.ts';
import type { UnpackThreads } from '../unpack/run-unpack-threads.ts';

export type UnpackedLayer = { readonly directory: string; readonly tarBytes: number };

export type UnpackedLayers = {
  readonly form: LayerForm;
  /** Throws UnpackError. */
  readonly ensure: (layer: LayerToUnpack, signal: AbortSignal) => Promise<UnpackedLayer>;
  /**
   * Removes layers that no image has, and what unpacking has left when its process ended. `readUsed` is called while a layer is locked: an image is in the
   * list before its layers are unpacked.
   */
  readonly sweep: (readUsed: () => Promise<ReadonlySet<string>>) => Promise<void>;
};

export type LayerToUnpack = {
  readonly diffId: string;
  readonly blob: string;
  readonly limits: UnpackLimits;
};

/** Beside the root of the layer, written before the directory gets its name. */
const sizeName = 'tar-bytes';
const rootName = 'root';

/** `directory` exists. */
export async function openLayers(
  directory: string,
  threads: UnpackThreads,
): Promise<UnpackedLayers> {
  const form = await probeForm(directory);
  const top = join(directory, form);
  await mkdir(top, { recursive: true, mode: 0o700 });
  const owners = readOwners();
  const canMakeDevices = form === 'trusted' && owners.canChange;
  const pathOf = (diffId: string): string => join(top, diffId.slice('sha256:'.length));
  return {
    form,
    ensure: async ({ diffId, blob, limits }, signal) => {
      const path = pathOf(diffId);
      const found = await foundLocked(path, signal);
      if (found !== undefined) return found;
      const lock = await lockFile(`${path}.lock`, 'exclusive', signal);
      try {
        const meanwhile = foundLayer(path);
        if (meanwhile !== undefined) return meanwhile;
        const unfinished = `${path}.new`;
        await removeTree(unfinished);
        await mkdir(join(unfinished, rootName), { recursive: true, mode: 0o700 });
        try {
          const job = { blob, diffId, limits, form, owners, canMakeDevices };
          const unpacked = await threads.unpack(
            { ...job, directory: join(unfinished, rootName) },
            signal,
          );
          await writeFile(join(unfinished, sizeName), String(unpacked.tarBytes), { mode: 0o600 });
          await rename(unfinished, path);
          return { directory: join(path, rootName), tarBytes: unpacked.tarBytes };
        } catch (error) {
          await removeTree(unfinished);
          throw error;
        }
      } finally {
        lock.release();
      }
    },
    sweep: async (readUsed) => {
      const names = new Set((await readdir(top)).map((name) => name.split('.')[0] ?? ''));
      for (const name of names) {
        const isUsed = async () => (await readUsed()).has(`sha256:${name}`);
        await sweepOne(join(top, name), isUsed);
      }
    },
  };
}

/** Not one that is being removed. */
async function foundLocked(path: string, signal: AbortSignal): Promise<UnpackedLayer | undefined> {
  const lock = await lockFile(`${path}.lock`, 'shared', signal);
  try {
    return foundLayer(path);
  } finally {
    lock.release();
  }
}

function foundLayer(path: string): UnpackedLayer | undefined {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const tarBytes = Number(readFileSync(join(path, sizeName), 'latin1'));
  return { directory: join(path, rootName), tarBytes };
}

/** Nothing of a layer that is being unpacked. */
async function sweepOne(path: string, isUsed: () => Promise<boolean>): Promise<void> {
  const lock = tryLockFile(`${path}.lock`, 'exclusive');
  if (lock === undefined) return;
  try {
    if (foundLayer(path) !== undefined && !(await isUsed())) {
      // Without its name at once: removing takes time, and the process may end meanwhile.
      await removeTree(`${path}.old`);
      await rename(path, `${path}.old`);
    }
    await removeTree(`${path}.old`);
    await removeTree(`${path}.new`);
    if (foundLayer(path) === undefined) await rm(`${path}.lock`, { force: true });
  } finally {
    lock.release();
  }
}

/** What overlayfs can read of what this process can write here. */
async function probeForm(directory: string): Promise<LayerForm> {
  const path = join(directory, `probe-${process.pid}-${Math.random().toString(36).slice(2)}`);
  await mkdir(path, { mode: 0o700 });
  const above = openPath(path);
  const opened = openTreeDirectory(above, []);
  try {
    const whiteout = { directory: opened, name: 'whiteout' };
    if (!succeeds(() => createNode(whiteout, 'character'))) return 'files';
    removeEntry(whiteout);
    const forms = ['trusted', 'user'] as const;
    const can = (form: 'trusted' | 'user'): boolean =>
      succeeds(() => setAttribute(opened, `${form}.overlay.opaque`, Buffer.from('y')));
    return forms.find(can) ?? 'files';
  } finally {
    closeDescriptor(opened);
    closeDescriptor(above);
    await removeTree(path);
  }
}

function succeeds(call: () => void): boolean {
  try {
    call();
    return true;
  } catch (error) {
    const { code = '' } = error as { code?: string };
    if (['EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'EINVAL'].includes(code)) return false;
    throw error;
  }
}

function readOwners(): OwnerMap {
  return {
    canChange: process.geteuid?.() === 0,
    users: parseIdMap(readFileSync('/proc/self/uid_map', 'latin1')),
    groups: parseIdMap(readFileSync('/proc/self/gid_map', 'latin1')),
  };
}
