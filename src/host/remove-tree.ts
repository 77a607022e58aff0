// Removes a directory that pods could write to: by descriptors, so that no symbolic link leads out of it, whenever it is created;
// within one file system; and in slices, so that a million files do not block the event loop.
import { chmodSync, constants, fstatSync, opendirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { closeDescriptor, loadCLibrary, type NativeFunction } from './native.ts';
import { pathOnly } from './open-beneath.ts';
import { SystemCallError } from './system-call-error.ts';

type Calls = Readonly<Record<'openat' | 'unlinkat' | 'renameat', NativeFunction>>;
let declared: Calls | undefined;

function calls(): Calls {
  if (declared === undefined) {
    const { checked } = loadCLibrary();
    declared = {
      openat: checked('int openat(int directory, const char *path, int flags, int mode)'),
      unlinkat: checked('int unlinkat(int directory, const char *path, int flags)'),
      renameat: checked('int renameat(int from, const char *old, int to, const char *new)'),
    };
  }
  return declared;
}

const currentDirectory = -100;
const removeDirectoryFlag = 0x200;
const closeOnExec = 0o2000000;
const openFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | closeOnExec;
/** Entries in one iteration of the event loop. */
const sliceEntries = 200;
/** Deeper directories are moved to the top before they are entered, because each level holds a descriptor. */
const maxDepth = 50;

type Removal = { readonly top: number; readonly device: number; entries: number; moved: number };

/** Does nothing if the path does not exist. Throws where another file system is mounted inside. */
export async function removeTree(path: string): Promise<void> {
  const above = calls().openat(currentDirectory, dirname(path), openFlags, 0);
  try {
    const name = basename(path);
    if (unlinked(above, name)) return;
    const top = openDirectory(above, name);
    try {
      const removal: Removal = { top, device: fstatSync(top).dev, entries: 0, moved: 0 };
      await empty(top, 0, removal);
    } finally {
      closeDescriptor(top);
    }
    calls().unlinkat(above, name, removeDirectoryFlag);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  } finally {
    closeDescriptor(above);
  }
}

async function empty(directory: number, depth: number, removal: Removal): Promise<void> {
  for (let names = namesIn(directory); names.length > 0; names = namesIn(directory)) {
    for (const name of names) {
      removal.entries += 1;
      if (removal.entries % sliceEntries === 0) await yieldToEventLoop();
      if (!unlinked(directory, name)) await removeDirectory(directory, name, depth, removal);
    }
  }
}

async function removeDirectory(
  above: number,
  name: string,
  depth: number,
  removal: Removal,
): Promise<void> {
  if (depth >= maxDepth) {
    removal.moved += 1;
    calls().renameat(above, name, removal.top, `.fairlead-removed-${removal.moved}`);
    return;
  }
  const directory = openDirectory(above, name);
  try {
    if (fstatSync(directory).dev !== removal.device)
      throw new Error(`Cannot remove ${name}: another file system is mounted there`);
    await empty(directory, depth + 1, removal);
  } finally {
    closeDescriptor(directory);
  }
  calls().unlinkat(above, name, removeDirectoryFlag);
}

/** At most one slice of them: there may be millions. */
function namesIn(directory: number): readonly string[] {
  const names: string[] = [];
  const open = opendirSync(`/proc/self/fd/${directory}`);
  try {
    for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
      names.push(entry.name);
      if (names.length >= sliceEntries) break;
    }
    return names;
  } finally {
    open.closeSync();
  }
}

/** False for a directory. */
function unlinked(directory: number, name: string): boolean {
  try {
    calls().unlinkat(directory, name, 0);
    return true;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return true;
    if (isCode(error, 'EISDIR')) return false;
    if (!isCode(error, 'EACCES') && !isCode(error, 'EPERM')) throw error;
    // The directory's mode denies its owner.
    chmodSync(`/proc/self/fd/${directory}`, 0o700);
    return retried(directory, name);
  }
}

function retried(directory: number, name: string): boolean {
  try {
    calls().unlinkat(directory, name, 0);
    return true;
  } catch (error) {
    if (isCode(error, 'EISDIR')) return false;
    throw error;
  }
}

function openDirectory(above: number, name: string): number {
  try {
    return calls().openat(above, name, openFlags, 0);
  } catch (error) {
    if (!isCode(error, 'EACCES')) throw error;
    const flags = pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW | closeOnExec;
    const shut = calls().openat(above, name, flags, 0);
    try {
      chmodSync(`/proc/self/fd/${shut}`, 0o700);
    } finally {
      closeDescriptor(shut);
    }
    return calls().openat(above, name, openFlags, 0);
  }
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof SystemCallError && error.code === code;
