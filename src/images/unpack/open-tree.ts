// A directory that a layer is unpacked into. Nothing else writes there. Paths come from the image: they are resolved here, name by name, as inside
// a root directory, and the kernel opens what results without following links.
import { lstatSync, readlinkSync, rmSync } from 'node:fs';
import { closeDescriptor } from '../../host/native.ts';
import { openPath } from '../../host/open-beneath.ts';
import { SystemCallError } from '../../host/system-call-error.ts';
import {
  changeOwner,
  createDirectory,
  type EntryName,
  entryPath,
  openTreeDirectory,
  removeEntry,
} from '../../host/tree-entries.ts';
import { maxEntryPathBytes, maxNameBytes } from './limits.ts';
import { UnpackError } from './unpack-error.ts';

export type TreeEntry = EntryName & {
  /** From the top, without links. */
  readonly path: string;
};

export type Tree = {
  /** The entry at a path; missing directories above it are made. The top itself has the path ''. */
  readonly locate: (path: string) => TreeEntry;
  /** An existing directory. It is closed when many others have been opened since. */
  readonly openDirectory: (path: string) => number;
  readonly kindOf: (entry: TreeEntry) => 'missing' | 'directory' | 'symlink' | 'other';
  /** With everything below it, if it is a directory. */
  readonly remove: (entry: TreeEntry) => void;
  readonly close: () => void;
};

export type TreeOptions = {
  readonly directory: string;
  /** Called for directories above entries that the layer itself does not have. */
  readonly made: (path: string) => void;
  /** What the layer removes, a directory with entries may replace. */
  readonly isWhiteout: (path: string) => boolean;
  /** Root owns them. */
  readonly canChangeOwner: boolean;
};

/** As of the kernel. */
const maxLinks = 40;
/** Entries of tar files come directory by directory. */
const maxOpenDirectories = 16;

export function openTree({ directory, made, isWhiteout, canChangeOwner }: TreeOptions): Tree {
  const top = openTop(directory);
  const opened = cacheDirectories(top);
  /** Directories that are known not to be links. */
  const known = new Set(['']);

  const makeDirectory = (entry: TreeEntry): void => {
    createDirectory(entry);
    if (canChangeOwner) changeOwner(entry, 0, 0);
    made(entry.path);
  };
  const enter: Enter = (path, name) => {
    const below = path === '' ? name : `${path}/${name}`;
    if (known.has(below)) return below;
    const entry = { directory: opened.open(path), name, path: below };
    const kind = kindOf(entry);
    if (kind === 'symlink') return namesOf(readTarget(entry), true);
    if (kind === 'other' && isWhiteout(below)) removeEntry(entry);
    else if (kind === 'other')
      throw new UnpackError('invalid', `${printable(below)} is not a directory, but has entries`);
    if (kind !== 'directory') makeDirectory(entry);
    known.add(below);
    return below;
  };
  return {
    locate: (text) => {
      const names = namesOf(text, false);
      const name = names.at(-1);
      if (name === undefined) return { directory: top, name: '.', path: '' };
      const above = resolveNames(names.slice(0, -1), enter);
      const path = above === '' ? name : `${above}/${name}`;
      return { directory: opened.open(above), name, path };
    },
    openDirectory: opened.open,
    kindOf,
    remove: (entry) => {
      if (entry.path === '') throw new UnpackError('invalid', 'the root is not a directory');
      opened.closeAll();
      known.clear();
      known.add('');
      const above = opened.open(parentOf(entry.path));
      rmSync(entryPath({ directory: above, name: entry.name }), { recursive: true });
    },
    close: () => {
      opened.closeAll();
      closeDescriptor(top);
    },
  };
}

/** The path is the store's own. */
function openTop(directory: string): number {
  const path = openPath(directory);
  try {
    return openTreeDirectory(path, []);
  } finally {
    closeDescriptor(path);
  }
}

/** Returns the path of the directory, or the names of the link's target. */
type Enter = (path: string, name: string) => string | readonly string[];

/** As the kernel resolves a path inside a root: what leads above the root ends there. */
function resolveNames(names: readonly string[], enter: Enter): string {
  let path = '';
  let links = 0;
  for (const pending = [...names]; pending.length > 0; ) {
    const name = pending.shift() ?? '';
    if (name === '..' || name === '/') {
      path = name === '/' ? '' : parentOf(path);
      continue;
    }
    const found = enter(path, name);
    if (typeof found === 'string') {
      path = found;
      continue;
    }
    pending.unshift(...found);
    links += 1;
    if (links > maxLinks || pending.length > maxEntryPathBytes)
      throw new UnpackError('invalid', `${printable(names.join('/'))}: too many links`);
  }
  if (path.length > maxEntryPathBytes)
    throw new UnpackError('invalid', `${printable(path)}: the name is too long`);
  return path;
}

type DirectoryCache = {
  readonly open: (path: string) => number;
  /** Not the top. */
  readonly closeAll: () => void;
};

function cacheDirectories(top: number): DirectoryCache {
  const open = new Map<string, number>();
  return {
    open: (path) => {
      if (path === '') return top;
      const descriptor = open.get(path) ?? openTreeDirectory(top, path.split('/'));
      // The one that was used last is closed last.
      open.delete(path);
      open.set(path, descriptor);
      if (open.size > maxOpenDirectories) closeOldest(open);
      return descriptor;
    },
    closeAll: () => {
      for (const descriptor of open.values()) closeDescriptor(descriptor);
      open.clear();
    },
  };
}

function closeOldest(open: Map<string, number>): void {
  for (const [path, descriptor] of open) {
    open.delete(path);
    closeDescriptor(descriptor);
    return;
  }
}

const parentOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0));

/** Of links, `/` at the beginning and `..` are names of their own. */
function namesOf(path: string, isTarget: boolean): readonly string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.some((name) => name.length > maxNameBytes) || path.length > maxEntryPathBytes)
    throw new UnpackError('invalid', `${printable(path)}: the name is too long`);
  if (isTarget) return path.startsWith('/') ? ['/', ...names] : names;
  if (names.includes('..'))
    throw new UnpackError('invalid', `${printable(path)}: a path with ".." leads out of the image`);
  return names;
}

function readTarget(entry: TreeEntry): string {
  return readlinkSync(entryPath(entry), 'buffer').toString('latin1');
}

function kindOf(entry: TreeEntry): ReturnType<Tree['kindOf']> {
  const found = lstatSync(entryPath(entry), { throwIfNoEntry: false });
  if (found === undefined) return 'missing';
  if (found.isDirectory()) return 'directory';
  return found.isSymbolicLink() ? 'symlink' : 'other';
}

/** For messages: names come from images. */
export function printable(path: string): string {
  const max = 200;
  const shown = path.length > max ? `${path.slice(0, max)}...` : path;
  return JSON.stringify(Buffer.from(shown, 'latin1').toString('utf8'));
}

export const isSystemError = (error: unknown, ...codes: readonly string[]): boolean =>
  (error instanceof SystemCallError || error instanceof Error) &&
  codes.includes((error as { code?: string }).code ?? '');
