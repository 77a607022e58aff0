// Copies layers on top of each other. Nothing else writes to the layers or to the copy. Blocks, so it runs in a worker thread.
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  type Stats,
  symlinkSync,
} from 'node:fs';
import { listAttributes, readAttribute, setAttribute } from '../../host/extended-attributes.ts';
import { closeDescriptor } from '../../host/native.ts';
import { openPath } from '../../host/open-beneath.ts';
import { createNode, openTreeDirectory } from '../../host/tree-entries.ts';
import type { LayerForm } from '../image-store.ts';

export type CopyJob = {
  readonly form: LayerForm;
  /** Bottom to top. */
  readonly directories: readonly string[];
  readonly target: string;
};

type Copy = {
  readonly form: LayerForm;
  /** Short paths of the two tops: those of images may be nearly as long as Linux allows. */
  readonly from: string;
  readonly to: string;
  readonly isRoot: boolean;
  /** Hard links of this layer: inode → path below the top. */
  readonly links: Map<number, Buffer>;
};

const whiteoutPrefix = '.wh.';
const opaqueName = '.wh..wh..opq';

export function copyTrees({ form, directories, target }: CopyJob): void {
  const to = openPath(target);
  try {
    for (const directory of directories) {
      const from = openPath(directory);
      try {
        copyDirectory(
          {
            ...{ form, links: new Map<number, Buffer>(), isRoot: process.geteuid?.() === 0 },
            ...{ from: `/proc/self/fd/${from}`, to: `/proc/self/fd/${to}` },
          },
          Buffer.alloc(0),
        );
      } finally {
        closeDescriptor(from);
      }
    }
  } finally {
    closeDescriptor(to);
  }
}

/** `path` is empty for the top, else it begins with a slash. */
const at = (top: string, path: Buffer): Buffer => Buffer.concat([Buffer.from(top), path]);
const below = (path: Buffer, name: string): Buffer =>
  Buffer.concat([path, Buffer.from(`/${name}`, 'latin1')]);

/** Names are strings of bytes. The copy has a directory of this path. */
function copyDirectory(copy: Copy, path: Buffer): void {
  const source = Buffer.concat([at(copy.from, path), Buffer.from('/')]);
  const names = readdirSync(source, 'buffer').map((name) => name.toString('latin1'));
  for (const name of names) copyEntry(copy, path, name);
  const stat = lstatSync(source);
  copyOwner(copy, stat, path);
  copyAttributes(copy, path);
  chmodSync(Buffer.concat([at(copy.to, path), Buffer.from('/')]), stat.mode & 0o7777);
  copyTimes(copy, stat, path);
}

function copyEntry(copy: Copy, above: Buffer, name: string): void {
  const isFiles = copy.form === 'files';
  if (isFiles && name === opaqueName) return;
  if (isFiles && name.startsWith(whiteoutPrefix)) {
    remove(copy, below(above, name.slice(whiteoutPrefix.length)));
    return;
  }
  const path = below(above, name);
  const stat = lstatSync(at(copy.from, path));
  if (stat.isDirectory()) {
    makeDirectory(copy, path);
    copyDirectory(copy, path);
    return;
  }
  remove(copy, path);
  if (stat.isCharacterDevice() && stat.rdev === 0) return;
  if (stat.isSymbolicLink()) {
    symlinkSync(readlinkSync(at(copy.from, path), 'buffer'), at(copy.to, path));
    copyOwner(copy, stat, path);
    copyTimes(copy, stat, path);
  } else if (stat.isFile()) {
    copyFile(copy, stat, path);
  } else {
    copyNode(copy, stat, above, name);
  }
}

function remove({ to }: Copy, path: Buffer): void {
  rmSync(at(to, path), { recursive: true, force: true });
}

function makeDirectory(copy: Copy, path: Buffer): void {
  const target = at(copy.to, path);
  const found = lstatSync(target, { throwIfNoEntry: false });
  if (found?.isDirectory() === true && !isOpaque(copy, path)) return;
  if (found !== undefined) remove(copy, path);
  mkdirSync(target, 0o700);
}

function isOpaque({ form, from }: Copy, path: Buffer): boolean {
  if (form === 'files') return existsSync(at(from, below(path, opaqueName)));
  const attribute = withDescriptor(at(from, path), (descriptor) =>
    readAttribute(descriptor, `${form}.overlay.opaque`),
  );
  return attribute?.toString() === 'y';
}

function copyFile(copy: Copy, stat: Stats, path: Buffer): void {
  const target = at(copy.to, path);
  const first = copy.links.get(stat.ino);
  if (first !== undefined) {
    linkSync(at(copy.to, first), target);
    return;
  }
  if (stat.nlink > 1) copy.links.set(stat.ino, path);
  copyFileSync(at(copy.from, path), target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  // The owner first: changing it clears capabilities and setuid bits.
  copyOwner(copy, stat, path);
  chmodSync(target, stat.mode & 0o7777);
  copyAttributes(copy, path);
  copyTimes(copy, stat, path);
}

/** FIFOs, and devices where the layer has them. */
function copyNode(copy: Copy, stat: Stats, above: Buffer, name: string): void {
  const names = above.toString('latin1').split('/').slice(1);
  const top = openPath(`${copy.to}/.`);
  try {
    const directory = openTreeDirectory(top, names);
    try {
      const kind = stat.isFIFO() ? 'fifo' : stat.isBlockDevice() ? 'block' : 'character';
      if (stat.isSocket()) return;
      // The layout of dev_t in Linux.
      const major = (stat.rdev >>> 8) & 0xfff;
      const minor = (stat.rdev & 0xff) | ((stat.rdev >>> 12) & 0xfff00);
      createNode({ directory, name }, kind, { major, minor });
    } finally {
      closeDescriptor(directory);
    }
  } finally {
    closeDescriptor(top);
  }
  const path = below(above, name);
  copyOwner(copy, stat, path);
  chmodSync(at(copy.to, path), stat.mode & 0o7777);
  copyTimes(copy, stat, path);
}

function copyOwner({ isRoot, to }: Copy, { uid, gid }: Stats, path: Buffer): void {
  if (isRoot) lchownSync(path.length === 0 ? `${to}/.` : at(to, path), uid, gid);
}

function copyTimes({ to }: Copy, { atime, mtime }: Stats, path: Buffer): void {
  lutimesSync(path.length === 0 ? `${to}/.` : at(to, path), atime, mtime);
}

/** Not those of overlayfs. */
function copyAttributes({ from, to, isRoot }: Copy, path: Buffer): void {
  withDescriptor(at(from, path), (source) => {
    const names = listAttributes(source).filter(
      (name) =>
        (name.startsWith('user.') && !name.startsWith('user.overlay.')) ||
        (name === 'security.capability' && isRoot),
    );
    if (names.length === 0) return;
    withDescriptor(at(to, path), (target) => {
      for (const name of names) {
        const value = readAttribute(source, name);
        if (value !== undefined) setAttribute(target, name, value);
      }
    });
  });
}

/** Of a file or directory of ours: it is no link, and opening it has no effect. */
function withDescriptor<T>(path: Buffer, use: (descriptor: number) => T): T {
  const descriptor = openSync(path, constants.O_RDONLY);
  try {
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
