// Writes the files of a volume atomically: a reader sees either all old or all new files. Each version is a directory, and one
// symbolic link points to the current one. Upstream: pkg/volume/util/atomic_writer.go.
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { VolumeFiles } from './volume-files.ts';
import { groupMode, type VolumeOwner } from './volume-owner.ts';

const currentLink = '..data';
const nextLink = '..data_tmp';

/** Names of version directories. A link to anything else is not ours: it is neither followed nor is its target removed. */
const generation = /^\.\.\d{1,20}$/;

/** Returns whether anything changed. */
export async function writeVolumeFiles(
  directory: string,
  files: VolumeFiles,
  owner: VolumeOwner = {},
): Promise<boolean> {
  await mkdir(directory, { recursive: true, mode: 0o755 });
  const link = await readlink(join(directory, currentLink)).catch(ignoreMissing);
  const before = link !== undefined && generation.test(link) ? link : undefined;
  if (before !== undefined && (await isSame(join(directory, before), files))) return false;
  const name = await writeGeneration(directory, files, owner);
  await rm(join(directory, nextLink), { force: true });
  await symlink(name, join(directory, nextLink));
  await rename(join(directory, nextLink), join(directory, currentLink));
  await linkNames(directory, files);
  if (before !== undefined) await rm(join(directory, before), { recursive: true, force: true });
  return true;
}

async function writeGeneration(
  directory: string,
  files: VolumeFiles,
  owner: VolumeOwner,
): Promise<string> {
  for (let number = Date.now(); ; number += 1) {
    const name = `..${number}`;
    const target = join(directory, name);
    try {
      await mkdir(target, { mode: 0o755 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw error;
    }
    for (const [path, { bytes, mode }] of Object.entries(files)) {
      await mkdir(dirname(join(target, path)), { recursive: true, mode: 0o755 });
      await writeOne(join(target, path), bytes, mode, owner);
    }
    return name;
  }
}

/** Created exclusively, so that no link is followed; private until it has its owner. */
async function writeOne(
  path: string,
  bytes: Uint8Array,
  mode: number,
  { uid, gid }: VolumeOwner,
): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await changeOwner(file, uid, gid);
    const kind = { isDirectory: false, isReadOnly: true };
    await file.chmod(gid === undefined ? mode : groupMode(mode, kind));
  } finally {
    await file.close();
  }
}

/** In a user namespace with one user, ownership cannot be changed. */
export async function changeOwner(
  file: Pick<FileHandle, 'chown'>,
  uid: number | undefined,
  gid: number | undefined,
): Promise<void> {
  if ((uid ?? 0) === 0 && (gid ?? 0) === 0) return;
  try {
    await file.chown(uid ?? 0, gid ?? 0);
  } catch (error) {
    if (!['EINVAL', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** The visible names are links through the current version; names of removed files are removed. */
async function linkNames(directory: string, files: VolumeFiles): Promise<void> {
  const wanted = new Set(Object.keys(files).map((path) => path.split('/')[0] ?? path));
  for (const entry of await readdir(directory)) {
    if (!entry.startsWith('..') && !wanted.delete(entry))
      await rm(join(directory, entry), { force: true });
  }
  for (const name of wanted) await symlink(join(currentLink, name), join(directory, name));
}

async function isSame(directory: string, files: VolumeFiles): Promise<boolean> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(
    ignoreMissing,
  );
  const present = entries?.filter((entry) => entry.isFile()).length;
  if (present !== Object.keys(files).length) return false;
  for (const [path, { bytes }] of Object.entries(files)) {
    const written = await readFile(join(directory, path)).catch(ignoreMissing);
    if (written === undefined || !written.equals(bytes)) return false;
  }
  return true;
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}
