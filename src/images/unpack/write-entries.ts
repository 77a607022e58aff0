// Writes the entries of a layer into an empty directory, in the form that overlayfs reads. Blocks, so it runs in a worker thread.
import { chmodSync, fchmodSync, fchownSync, futimesSync, writeSync } from 'node:fs';
import { setAttribute } from '../../host/extended-attributes.ts';
import { closeDescriptor } from '../../host/native.ts';
import {
  changeOwner,
  changeTime,
  createDirectory,
  createFile,
  createHardLink,
  createNode,
  createSymlink,
  entryPath,
} from '../../host/tree-entries.ts';
import type { LayerForm } from '../image-store.ts';
import type { TarEntry } from '../tar/tar-entry.ts';
import { mapOwner, type OwnerMap } from './map-owner.ts';
import { isSystemError, openTree, printable, type Tree, type TreeEntry } from './open-tree.ts';
import { UnpackError } from './unpack-error.ts';
import { whiteoutOf } from './whiteout.ts';

export type EntryWriter = {
  readonly entry: (entry: TarEntry) => void;
  /** Of the last entry. */
  readonly content: (bytes: Buffer) => void;
  readonly end: () => void;
  /** Modes and times of directories, which later entries would change or be refused by. */
  readonly finish: () => void;
  readonly close: () => void;
};

export type WriterOptions = {
  readonly directory: string;
  readonly form: LayerForm;
  readonly owners: OwnerMap;
  /** Only root of the machine can. */
  readonly canMakeDevices: boolean;
};

type DirectoryMark = { readonly mode: number; readonly mtime: number };

type Work = WriterOptions & {
  readonly tree: Tree;
  readonly directories: Map<string, DirectoryMark>;
  /** Paths removed from lower layers. */
  readonly whiteouts: Set<string>;
  replaced: number;
  file: { readonly descriptor: number; readonly entry: TarEntry } | undefined;
};

/** What tar files without an entry for a directory leave to us. */
const impliedMode = 0o755;

export function createEntryWriter(options: WriterOptions): EntryWriter {
  const directories = new Map<string, DirectoryMark>();
  const whiteouts = new Set<string>();
  const work: Work = {
    ...options,
    ...{ directories, whiteouts, replaced: 0, file: undefined },
    tree: openTree({
      directory: options.directory,
      canChangeOwner: options.owners.canChange,
      isWhiteout: (path) => whiteouts.has(path),
      made: (path) => {
        directories.set(path, { mode: impliedMode, mtime: 0 });
        // Below a directory that replaces one of a lower layer.
        if (whiteouts.has(path)) markOpaque(work, path);
      },
    }),
  };
  directories.set('', { mode: impliedMode, mtime: 0 });
  return {
    entry: (entry) => writeEntry(work, entry),
    content: (bytes) => writeContent(work, bytes),
    end: () => endFile(work),
    finish: () => finishDirectories(work),
    close: () => {
      if (work.file !== undefined) closeDescriptor(work.file.descriptor);
      work.tree.close();
    },
  };
}

function writeEntry(work: Work, entry: TarEntry): void {
  const whiteout = whiteoutOf(entry.name);
  if (whiteout?.kind === 'opaque') {
    const directory = work.tree.locate(`${whiteout.directory}/.wh`);
    markOpaque(work, directory.path.slice(0, -'/.wh'.length));
  } else if (whiteout?.kind === 'removed') {
    writeWhiteout(work, whiteout.path);
  } else if (whiteout === undefined) {
    const at = work.tree.locate(entry.name);
    if (at.path === '') writeTop(work, entry);
    else writeKind(work, entry, at);
  }
}

function writeTop(work: Work, entry: TarEntry): void {
  if (entry.kind !== 'directory') throw new UnpackError('invalid', 'the root is not a directory');
  setDirectory(work, '', entry);
}

function writeKind(work: Work, entry: TarEntry, at: TreeEntry): void {
  switch (entry.kind) {
    case 'directory':
      makeDirectory(work, entry, at);
      return;
    case 'file':
      work.file = { descriptor: replacing(work, at, () => createFile(at)), entry };
      return;
    case 'symlink':
      if (entry.target === '') throw new UnpackError('invalid', 'a symbolic link has no target');
      replacing(work, at, () => createSymlink(at, entry.target));
      setOwnerAndTime(work, entry, at);
      return;
    case 'link':
      makeHardLink(work, entry, at);
      return;
    case 'fifo':
    case 'character':
    case 'block':
      makeNode(work, entry, at, entry.kind);
  }
}

function makeDirectory(work: Work, entry: TarEntry, at: TreeEntry): void {
  try {
    createDirectory(at);
    if (work.whiteouts.has(at.path)) markOpaque(work, at.path);
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
    if (work.tree.kindOf(at) !== 'directory') {
      removeExisting(work, at);
      createDirectory(located(work, at));
      if (work.whiteouts.has(at.path)) markOpaque(work, at.path);
    }
  }
  setDirectory(work, at.path, entry);
}

/** `remove` closes directories. */
const located = ({ tree }: Work, { path, name }: TreeEntry): TreeEntry => ({
  directory: tree.openDirectory(path.slice(0, Math.max(path.lastIndexOf('/'), 0))),
  ...{ name, path },
});

/** A later entry of the same name replaces the earlier one. */
function replacing<T>(work: Work, at: TreeEntry, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
    removeExisting(work, at);
    Object.assign(at, located(work, at));
    return make();
  }
}

/** No program that builds images replaces one: each costs a pass over all. */
const maxReplacedDirectories = 1000;

function removeExisting(work: Work, at: TreeEntry): void {
  const isDirectory = work.tree.kindOf(at) === 'directory';
  work.tree.remove(at);
  if (!isDirectory) return;
  work.replaced += 1;
  if (work.replaced > maxReplacedDirectories)
    throw new UnpackError('limit', `more than ${maxReplacedDirectories} directories are replaced`);
  for (const path of work.directories.keys()) {
    if (path === at.path || path.startsWith(`${at.path}/`)) work.directories.delete(path);
  }
}

function setDirectory(work: Work, path: string, entry: TarEntry): void {
  const descriptor = work.tree.openDirectory(path);
  if (work.owners.canChange) {
    const { uid, gid } = mapOwner(work.owners, entry);
    fchownSync(descriptor, uid, gid);
  }
  setAttributes(work, descriptor, entry);
  work.directories.set(path, { mode: entry.mode, mtime: entry.mtime });
}

function makeHardLink(work: Work, entry: TarEntry, at: TreeEntry): void {
  const target = work.tree.locate(entry.target);
  if (target.path === at.path || target.path === '') return;
  const kind = work.tree.kindOf(target);
  if (kind === 'missing' || kind === 'directory')
    throw new UnpackError(
      'invalid',
      `${printable(at.path)} is a hard link to ${printable(entry.target)}, which is ${kind === 'missing' ? 'not in this layer' : 'a directory'}`,
    );
  replacing(work, at, () => createHardLink(located(work, target), located(work, at)));
}

function makeNode(
  work: Work,
  entry: TarEntry,
  at: TreeEntry,
  kind: 'fifo' | 'character' | 'block',
): void {
  const { major, minor } = entry.device;
  const isWhiteout = kind === 'character' && major === 0 && minor === 0;
  // A container gets a /dev of its own.
  if (kind !== 'fifo' && (isWhiteout || !work.canMakeDevices)) return;
  replacing(work, at, () => createNode(at, kind, entry.device));
  setOwnerAndTime(work, entry, at);
  // By its name: opening it would have effects. It is not a link, as it has just been made.
  chmodSync(entryPath(at), entry.mode);
}

function setOwnerAndTime(work: Work, entry: TarEntry, at: TreeEntry): void {
  if (work.owners.canChange) {
    const { uid, gid } = mapOwner(work.owners, entry);
    changeOwner(at, uid, gid);
  }
  changeTime(at, clampTime(entry.mtime));
}

function writeContent(work: Work, bytes: Buffer): void {
  // Of an entry that is not written.
  if (work.file === undefined) return;
  for (let at = 0; at < bytes.length; ) at += writeSync(work.file.descriptor, bytes, at);
}

/** The owner first: changing it clears capabilities and setuid bits. */
function endFile(work: Work): void {
  if (work.file === undefined) return;
  const { descriptor, entry } = work.file;
  if (work.owners.canChange) {
    const { uid, gid } = mapOwner(work.owners, entry);
    if (uid !== 0 || gid !== 0) fchownSync(descriptor, uid, gid);
  }
  fchmodSync(descriptor, entry.mode);
  setAttributes(work, descriptor, entry);
  const mtime = clampTime(entry.mtime);
  futimesSync(descriptor, mtime, mtime);
  work.file = undefined;
  closeDescriptor(descriptor);
}

/** Those of overlayfs would let an image say what a lower layer has. */
const overlayAttribute = /^(?:trusted|user)\.overlay\./;

function setAttributes(work: Work, descriptor: number, { attributes }: TarEntry): void {
  for (const [name, value] of attributes) {
    const isOwn = name.startsWith('user.') && !overlayAttribute.test(name);
    if (!isOwn && !(name === 'security.capability' && work.owners.canChange)) continue;
    try {
      setAttribute(descriptor, name, value);
    } catch (error) {
      // The file system has no such attributes, or this user namespace may not set them: the file is of use without.
      if (!isSystemError(error, 'ENOTSUP', 'EPERM', 'EINVAL')) throw error;
    }
  }
}

function markOpaque(work: Work, path: string): void {
  const descriptor = work.tree.openDirectory(path);
  if (work.form === 'files') {
    const marker = { directory: descriptor, name: '.wh..wh..opq', path };
    replacing(work, marker, () => closeDescriptor(createFile(marker)));
  } else {
    setAttribute(descriptor, `${work.form}.overlay.opaque`, Buffer.from('y'));
  }
}

/** Removes from lower layers only: what this layer itself has stays, but then without what is below it. */
function writeWhiteout(work: Work, path: string): void {
  const at = work.tree.locate(path);
  const kind = work.tree.kindOf(at);
  if (kind === 'directory') markOpaque(work, at.path);
  if (kind !== 'missing' || work.whiteouts.has(at.path)) return;
  work.whiteouts.add(at.path);
  if (work.form === 'files') closeDescriptor(createFile({ ...at, name: `.wh.${at.name}` }));
  else createNode(at, 'character');
}

function finishDirectories(work: Work): void {
  for (const [path, { mode, mtime }] of [...work.directories].reverse()) {
    const descriptor = work.tree.openDirectory(path);
    const time = clampTime(mtime);
    futimesSync(descriptor, time, time);
    fchmodSync(descriptor, mode);
  }
}

/** What all file systems can store. */
const clampTime = (seconds: number): number => Math.min(Math.max(seconds, -(2 ** 31)), 2 ** 33);
