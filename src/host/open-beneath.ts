// Opens files below a directory that pods can write to, so that no symbolic link leads out of it, whenever it is created: the kernel
// refuses links in the path (openat2). Kernels before 5.6 cannot, and there the path is opened name by name.
import { constants, fchmodSync, fchownSync, fstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { callNumbers } from './call-numbers.ts';
import { closeDescriptor, loadCLibrary, type NativeFunction } from './native.ts';
import { SystemCallError } from './system-call-error.ts';

type Calls = Readonly<Record<'openat2' | 'openat' | 'mkdirat', NativeFunction>>;
let declared: Calls | undefined;

function calls(): Calls {
  if (declared === undefined) {
    const { checked } = loadCLibrary();
    declared = {
      openat2: checked(
        'long syscall(long number, int directory, const char *path, void *how, size_t size)',
      ),
      openat: checked('int openat(int directory, const char *path, int flags, int mode)'),
      mkdirat: checked('int mkdirat(int directory, const char *path, int mode)'),
    };
  }
  return declared;
}

/** O_PATH, which Node does not name: a descriptor of the path itself, which cannot be read from. */
export const pathOnly = 0o10000000;
const closeOnExec = 0o2000000;
const noFollow = constants.O_NOFOLLOW;
/** RESOLVE_NO_XDEV is not used, because volumes may contain mounts. */
const noMagicLinks = 2;
const noSymlinks = 4;
const beneath = 8;
const inRoot = 16;

/** Follows links: only for paths that pods cannot change. */
export function openPath(path: string): number {
  return calls().openat(currentDirectory, path, pathOnly | closeOnExec, 0);
}

const currentDirectory = -100;

export type OpenBeneath = {
  /** As for open(); O_CLOEXEC is added. */
  readonly flags: number;
  readonly mode?: number;
  /** Follow links that stay inside; absent: links are refused. */
  readonly followsLinks?: boolean;
  /** The directory is the root of links: absolute ones begin there. Needs Linux 5.6. */
  readonly isRoot?: boolean;
};

/** `path` is relative to the directory; empty: the directory itself. Throws SystemCallError: ELOOP for a link, EXDEV for a path that leads out. Close it with `closeDescriptor`. */
export function openBeneath(
  directory: number,
  path: string,
  { flags, mode = 0, followsLinks = false, isRoot = false }: OpenBeneath,
): number {
  const names = namesOf(path);
  const relative = names.length === 0 ? '.' : names.join('/');
  // struct open_how.
  const how = Buffer.alloc(24);
  how.writeBigUInt64LE(BigInt(flags | closeOnExec), 0);
  how.writeBigUInt64LE(BigInt(mode), 8);
  const within = isRoot ? inRoot : beneath;
  how.writeBigUInt64LE(BigInt(within | noMagicLinks | (followsLinks ? 0 : noSymlinks)), 16);
  try {
    return calls().openat2(callNumbers.openat2, directory, relative, how, how.length);
  } catch (error) {
    if (!(error instanceof SystemCallError) || error.code !== 'ENOSYS') throw error;
    const real = followsLinks ? realNames(directory, names) : names;
    return walk(directory, real, { flags, mode });
  }
}

/** Resolves the links as they are now. If they change meanwhile, `walk` still follows none. */
function realNames(directory: number, names: readonly string[]): readonly string[] {
  const top = realpathSync(`/proc/self/fd/${directory}`);
  const real = realpathSync(join(top, ...names));
  if (real !== top && !real.startsWith(`${top}/`)) throw new SystemCallError('open', exdev);
  return namesOf(real.slice(top.length));
}

/** The same name by name, refusing links. */
export function walk(
  directory: number,
  names: readonly string[],
  { flags, mode = 0 }: OpenBeneath,
): number {
  const { openat } = calls();
  const last = names.at(-1) ?? '.';
  const opened: number[] = [];
  try {
    let at = directory;
    for (const name of names.slice(0, -1)) {
      at = openat(at, name, pathOnly | noFollow | constants.O_DIRECTORY | closeOnExec, 0);
      opened.push(at);
    }
    return requireNoLink(openat(at, last, flags | noFollow | closeOnExec, mode));
  } finally {
    for (const descriptor of opened) closeDescriptor(descriptor);
  }
}

const eloop = 40;
const exdev = 18;

/** With `pathOnly` the kernel opens the link itself. */
function requireNoLink(descriptor: number): number {
  if (!fstatSync(descriptor).isSymbolicLink()) return descriptor;
  closeDescriptor(descriptor);
  throw new SystemCallError('open', eloop);
}

export type MadeDirectory = { readonly mode: number; readonly gid?: number };

/** Creates missing directories, and returns a descriptor of the last one. Refuses links. */
export function makeBeneath(directory: number, path: string, { mode, gid }: MadeDirectory): number {
  const { mkdirat } = calls();
  const flags = constants.O_RDONLY | constants.O_DIRECTORY;
  let at = openBeneath(directory, '', { flags });
  for (const name of namesOf(path)) {
    const above = at;
    try {
      const isNew = madeNew(() => mkdirat(above, name, 0o700));
      at = openBeneath(above, name, { flags });
      // Independent of the umask.
      if (isNew && gid !== undefined) fchownSync(at, -1, gid);
      if (isNew) fchmodSync(at, mode);
    } finally {
      closeDescriptor(above);
    }
  }
  return at;
}

function madeNew(make: () => number): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if (error instanceof SystemCallError && error.code === 'EEXIST') return false;
    throw error;
  }
}

function namesOf(path: string): readonly string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) throw new SystemCallError('open', exdev);
  return names;
}
