// Entries of open directories by their names as bytes, which need not be UTF-8: what system calls with `at` do. A name is one name, not a path.
import { constants } from 'node:fs';
import { callNumbers } from './call-numbers.ts';
import { closeDescriptor, loadCLibrary, type NativeFunction } from './native.ts';
import { SystemCallError } from './system-call-error.ts';

type Calls = Readonly<
  Record<
    | 'openat2'
    | 'openat'
    | 'mkdirat'
    | 'symlinkat'
    | 'linkat'
    | 'unlinkat'
    | 'mknodat'
    | 'fchownat'
    | 'utimensat',
    NativeFunction
  >
>;
let declared: Calls | undefined;

/** Before glibc 2.33 the C library has no function of that name. */
const mknodatNumbers: Readonly<Record<string, number>> = { x64: 259, arm64: 33 };

function calls(): Calls {
  if (declared !== undefined) return declared;
  const { checked } = loadCLibrary();
  const number = mknodatNumbers[process.arch];
  const byNumber = (): NativeFunction => {
    const call = checked(
      'long syscall(long number, int directory, const void *name, unsigned int mode, unsigned long device)',
    );
    return (...args) => call(number, ...args);
  };
  declared = {
    openat2: checked(
      'long syscall(long number, int directory, const void *path, void *how, size_t size)',
    ),
    openat: checked('int openat(int directory, const void *name, int flags, int mode)'),
    mkdirat: checked('int mkdirat(int directory, const void *name, int mode)'),
    symlinkat: checked('int symlinkat(const void *target, int directory, const void *name)'),
    linkat: checked(
      'int linkat(int fromDirectory, const void *from, int toDirectory, const void *to, int flags)',
    ),
    unlinkat: checked('int unlinkat(int directory, const void *name, int flags)'),
    mknodat:
      number === undefined
        ? checked(
            'int mknodat(int directory, const void *name, unsigned int mode, unsigned long device)',
          )
        : byNumber(),
    fchownat: checked(
      'int fchownat(int directory, const void *name, unsigned int uid, unsigned int gid, int flags)',
    ),
    utimensat: checked(
      'int utimensat(int directory, const void *name, const void *times, int flags)',
    ),
  };
  return declared;
}

const closeOnExec = 0o2000000;
const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const noFollow = 0x100;
/** Links, also those of /proc, and paths that lead out are refused. */
const resolveFlags = 8 | 4 | 2;

const bytes = (name: string): Buffer => Buffer.from(`${name}\0`, 'latin1');

/** Names and targets are strings of bytes (latin1). */
export type EntryName = { readonly directory: number; readonly name: string };

/** Opens a directory by its path below another, refusing links. Close it with `closeDescriptor`. */
export function openTreeDirectory(top: number, names: readonly string[]): number {
  if (names.length === 0) return calls().openat(top, bytes('.'), directoryFlags | closeOnExec, 0);
  const how = Buffer.alloc(24);
  how.writeBigUInt64LE(BigInt(directoryFlags | closeOnExec), 0);
  how.writeBigUInt64LE(BigInt(resolveFlags), 16);
  try {
    return calls().openat2(callNumbers.openat2, top, bytes(names.join('/')), how, how.length);
  } catch (error) {
    // Before Linux 5.6.
    if (!(error instanceof SystemCallError) || error.code !== 'ENOSYS') throw error;
    return openNameByName(top, names);
  }
}

function openNameByName(top: number, names: readonly string[]): number {
  let at = openTreeDirectory(top, []);
  for (const name of names) {
    const above = at;
    try {
      at = calls().openat(above, bytes(name), directoryFlags | closeOnExec, 0);
    } finally {
      closeDescriptor(above);
    }
  }
  return at;
}

/** A new file, for writing. */
export function createFile({ directory, name }: EntryName): number {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  return calls().openat(directory, bytes(name), flags | closeOnExec, 0o600);
}

export function createDirectory({ directory, name }: EntryName): void {
  calls().mkdirat(directory, bytes(name), 0o700);
}

export function createSymlink({ directory, name }: EntryName, target: string): void {
  calls().symlinkat(bytes(target), directory, bytes(name));
}

/** A second name of a file. A symbolic link gets the second name itself. */
export function createHardLink(existing: EntryName, added: EntryName): void {
  const { linkat } = calls();
  linkat(existing.directory, bytes(existing.name), added.directory, bytes(added.name), 0);
}

export type NodeKind = 'character' | 'block' | 'fifo';
const nodeModes = {
  character: constants.S_IFCHR,
  block: constants.S_IFBLK,
  fifo: constants.S_IFIFO,
} as const;

export type DeviceNumber = { readonly major: number; readonly minor: number };

/** With mode 0600. A character device 0/0 is a whiteout of overlayfs, for which no rights are needed. */
export function createNode(
  { directory, name }: EntryName,
  kind: NodeKind,
  { major, minor }: DeviceNumber = { major: 0, minor: 0 },
): void {
  // The layout of dev_t in Linux.
  const device = ((major & 0xfff) << 8) | (minor & 0xff) | ((minor & 0xfff00) << 12);
  calls().mknodat(directory, bytes(name), nodeModes[kind] | 0o600, device >>> 0);
}

/** Of a file, not of a directory. */
export function removeEntry({ directory, name }: EntryName): void {
  calls().unlinkat(directory, bytes(name), 0);
}

/** Not through a symbolic link. */
export function changeOwner({ directory, name }: EntryName, uid: number, gid: number): void {
  calls().fchownat(directory, bytes(name), uid, gid, noFollow);
}

/** Not through a symbolic link. */
export function changeTime({ directory, name }: EntryName, seconds: number): void {
  const whole = Math.floor(seconds);
  const nanoseconds = BigInt(Math.floor((seconds - whole) * 1e9));
  const times = Buffer.alloc(32);
  for (const at of [0, 16]) {
    times.writeBigInt64LE(BigInt(whole), at);
    times.writeBigInt64LE(nanoseconds, at + 8);
  }
  calls().utimensat(directory, bytes(name), times, noFollow);
}

/** The path by which functions of Node find the entry of an open directory. */
export const entryPath = ({ directory, name }: EntryName): Buffer =>
  Buffer.from(`/proc/self/fd/${directory}/${name}`, 'latin1');
