// Unpacks one layer from the file with its compressed tar. Runs in a worker thread.
import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream';
import * as zlib from 'node:zlib';
import type { LayerForm } from '../image-store.ts';
import { createTarReader, type TarEvent } from '../tar/read-tar.ts';
import { TarError } from '../tar/tar-entry.ts';
import { isBomb, type UnpackLimits } from './limits.ts';
import type { OwnerMap } from './map-owner.ts';
import { isSystemError } from './open-tree.ts';
import { UnpackError } from './unpack-error.ts';
import { createEntryWriter, type EntryWriter } from './write-entries.ts';

export type UnpackJob = {
  /** The file with the layer, compressed or not. */
  readonly blob: string;
  /** Exists and is empty. */
  readonly directory: string;
  /** What the tar file has to be. */
  readonly diffId: string;
  readonly form: LayerForm;
  readonly owners: OwnerMap;
  readonly canMakeDevices: boolean;
  readonly limits: UnpackLimits;
};

export type Unpacked = { readonly tarBytes: number; readonly entries: number };

/** Leaves the directory incomplete where it throws UnpackError. */
export async function unpackLayer(job: UnpackJob): Promise<Unpacked> {
  const writer = createEntryWriter(job);
  try {
    const unpacked = await writeAll(job, writer);
    writer.finish();
    return unpacked;
  } catch (error) {
    throw explained(error);
  } finally {
    writer.close();
  }
}

async function writeAll(
  { blob, diffId, limits }: UnpackJob,
  writer: EntryWriter,
): Promise<Unpacked> {
  const { bytes, consumedBytes } = openLayer(blob);
  const reader = createTarReader();
  const hash = createHash('sha256');
  let tarBytes = 0;
  let entries = 0;
  for await (const part of bytes as AsyncIterable<Buffer>) {
    tarBytes += part.length;
    checkSize(tarBytes, consumedBytes(), limits);
    hash.update(part);
    for (const event of reader.push(part)) {
      if (event.kind === 'entry') entries += 1;
      if (entries > limits.maxLayerEntries)
        throw new UnpackError('limit', `more than ${limits.maxLayerEntries} files and directories`);
      carryOut(event, writer);
    }
  }
  reader.finish();
  const digest = `sha256:${hash.digest('hex')}`;
  if (digest !== diffId)
    throw new UnpackError('invalid', `mismatched diff ID: ${digest}, expected ${diffId}`);
  return { tarBytes, entries };
}

function carryOut(event: TarEvent, writer: EntryWriter): void {
  if (event.kind === 'entry') writer.entry(event.entry);
  else if (event.kind === 'content') writer.content(event.bytes);
  else writer.end();
}

function checkSize(tarBytes: number, consumed: number, { maxLayerBytes }: UnpackLimits): void {
  if (tarBytes > maxLayerBytes)
    throw new UnpackError('limit', `the layer unpacks to more than ${maxLayerBytes} bytes`);
  if (isBomb(consumed, tarBytes))
    throw new UnpackError(
      'limit',
      `the layer is probably a decompression bomb: ${tarBytes} bytes from ${consumed}`,
    );
}

type OpenedLayer = { readonly bytes: Readable; readonly consumedBytes: () => number };

/** Parts of this size are a compromise between calls and memory. */
const partBytes = 256 * 1024;

function openLayer(blob: string): OpenedLayer {
  const decoder = decoderOf(blob);
  const file = createReadStream(blob, { highWaterMark: partBytes });
  if (decoder === undefined) return { bytes: file, consumedBytes: () => file.bytesRead };
  // An error of one ends the other, and the reader sees it.
  const bytes = pipeline(file, decoder, () => {});
  return { bytes, consumedBytes: () => (decoder as zlib.Gunzip).bytesWritten };
}

/** By its first bytes: media types are wrong in images that other programs have converted. */
function decoderOf(blob: string): Transform | undefined {
  const magic = firstBytes(blob, 4).toString('hex');
  if (magic.startsWith('1f8b')) return zlib.createGunzip({ chunkSize: partBytes });
  if (magic !== '28b52ffd') return undefined;
  const { createZstdDecompress } = zlib as unknown as {
    createZstdDecompress?: (options: { chunkSize: number }) => Transform;
  };
  if (createZstdDecompress !== undefined) return createZstdDecompress({ chunkSize: partBytes });
  throw new UnpackError(
    'invalid',
    `the layer is compressed with zstd, which Node.js ${process.version} cannot read: use Node.js 22.15 or later, or an image with gzip`,
  );
}

function firstBytes(path: string, count: number): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(count);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, count, 0));
  } finally {
    closeSync(descriptor);
  }
}

function explained(error: unknown): unknown {
  if (error instanceof UnpackError) return error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (error instanceof TarError) return new UnpackError('invalid', message, { cause: error });
  if (isSystemError(error, 'ENOSPC', 'EDQUOT'))
    return new UnpackError('full', 'no space left on device', { cause: error });
  if (/^(?:Z_|ERR_ZSTD|ERR__ERROR)/.test(code) || code === 'ERR_STREAM_PREMATURE_CLOSE')
    return new UnpackError('invalid', `the layer is damaged: ${message}`, { cause: error });
  return error;
}
