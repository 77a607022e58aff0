// A frame of the history: the changes of some seconds, written at once. Frames follow each other without a gap, so the oldest one says
// since when the history is complete.
import { crc32 } from 'node:zlib';

/** The revision and the time from which on every change is recorded. */
export type Moment = { readonly revision: number; readonly timeMs: number };

export type FrameHeader = {
  /** Where the frame before it ended. */
  readonly from: Moment;
  /** Its last revision; changes of other resources count too. */
  readonly to: Moment;
  readonly parts: readonly FramePart[];
};

/** The changes of one resource. */
export type FramePart = {
  readonly resource: string;
  /** In the payload. */
  readonly offset: number;
  readonly length: number;
  readonly isSealed: boolean;
  /** Hashes of the keys, in base64 of four bytes each. */
  readonly keys: string;
};

/** Magic 4, header length 4, payload length 4, checksum of the payload 4, checksum of all this and the header 4. */
export const frameHeadBytes = 20;
const magic = 0x464c4831;
/** More than the header of a frame at its maximum size. */
const maxHeaderBytes = 4 * 1024 * 1024;

export function encodeFrame(header: FrameHeader, payload: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const head = Buffer.alloc(frameHeadBytes);
  head.writeUInt32BE(magic, 0);
  head.writeUInt32BE(text.length, 4);
  head.writeUInt32BE(payload.length, 8);
  head.writeUInt32BE(crc32(payload), 12);
  head.writeUInt32BE(crc32(text, crc32(head.subarray(0, 16))), 16);
  return Buffer.concat([head, text, payload]);
}

export type FrameHead = {
  readonly headerBytes: number;
  readonly payloadBytes: number;
  readonly payloadCheck: number;
};

/** Undefined where no frame begins. */
export function decodeFrameHead(head: Buffer): FrameHead | undefined {
  if (head.length < frameHeadBytes || head.readUInt32BE(0) !== magic) return undefined;
  const headerBytes = head.readUInt32BE(4);
  if (headerBytes > maxHeaderBytes) return undefined;
  return {
    headerBytes,
    payloadBytes: head.readUInt32BE(8),
    payloadCheck: head.readUInt32BE(12),
  };
}

/** Undefined where the bytes are damaged. */
export function decodeFrameHeader(head: Buffer, text: Buffer): FrameHeader | undefined {
  if (crc32(text, crc32(head.subarray(0, 16))) !== head.readUInt32BE(16)) return undefined;
  return JSON.parse(text.toString('utf8')) as FrameHeader;
}

export function encodeKeys(hashes: Iterable<number>): string {
  return Buffer.from(Uint32Array.from(new Set(hashes)).buffer).toString('base64');
}

export function hasKey({ keys }: FramePart, hash: number): boolean {
  const bytes = Buffer.from(keys, 'base64');
  for (let at = 0; at + 4 <= bytes.length; at += 4)
    if (bytes.readUInt32LE(at) === hash) return true;
  return false;
}
