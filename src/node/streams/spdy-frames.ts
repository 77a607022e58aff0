// Decodes and encodes SPDY/3.1 frames. Memory is bounded by the size of one control frame: data frames are returned in the pieces in
// which they arrive.

export type SpdyFrame =
  | {
      readonly kind: 'synStream';
      readonly stream: number;
      readonly isFinal: boolean;
      readonly isOneWay: boolean;
      readonly headers: Buffer;
    }
  | { readonly kind: 'synReply' | 'headers'; readonly stream: number; readonly headers: Buffer }
  | { readonly kind: 'reset'; readonly stream: number; readonly status: number }
  | { readonly kind: 'settings'; readonly initialWindow?: number }
  | { readonly kind: 'ping'; readonly id: number }
  | { readonly kind: 'goAway' }
  | { readonly kind: 'windowUpdate'; readonly stream: number; readonly delta: number }
  | {
      readonly kind: 'data';
      readonly stream: number;
      readonly isFinal: boolean;
      readonly bytes: Buffer;
    };

export class SpdyError extends Error {
  override readonly name = 'SpdyError';
}

const headBytes = 8;
/** Headers of a stream are about a hundred bytes. */
const maxControlBytes = 64 * 1024;
const version = 3;
const finalFlag = 1;
const oneWayFlag = 2;
const initialWindowSetting = 7;

const type = {
  synStream: 1,
  synReply: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

export const resetStatus = { protocolError: 1, refused: 3, cancel: 5 } as const;

type OpenData = { readonly stream: number; readonly isFinal: boolean; readonly left: number };

type Step = {
  /** The remaining input. */
  readonly bytes: Buffer;
  /** An incomplete data frame. */
  readonly open?: OpenData;
  /** Absent: the frame is incomplete or unknown. */
  readonly frame?: SpdyFrame;
};

/** Returns the frames that a chunk completes. Throws SpdyError for invalid frames. */
export function createFrameReader(): (chunk: Buffer) => readonly SpdyFrame[] {
  let rest: Step = { bytes: Buffer.alloc(0) };
  return (chunk) => {
    const frames: SpdyFrame[] = [];
    const { bytes } = rest;
    let now: Step = { ...rest, bytes: bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]) };
    for (let next = step(now); next !== undefined; next = step(now)) {
      now = next;
      if (now.frame !== undefined) frames.push(now.frame);
    }
    // Copied, so that a few bytes do not retain a large chunk.
    rest = { ...now, bytes: Buffer.from(now.bytes) };
    return frames;
  };
}

/** Undefined when more bytes are needed. */
function step({ bytes, open }: Step): Step | undefined {
  if (open !== undefined) return bytes.length === 0 ? undefined : readData(bytes, open);
  if (bytes.length < headBytes) return undefined;
  const flags = bytes.readUInt8(4);
  const length = bytes.readUInt32BE(4) & 0xff_ffff;
  const isControl = bytes.readUInt8(0) >= 0x80;
  if (!isControl) {
    const begun = {
      stream: bytes.readUInt32BE(0),
      isFinal: (flags & finalFlag) !== 0,
      left: length,
    };
    return length === 0
      ? readData(bytes.subarray(headBytes), begun)
      : { bytes: bytes.subarray(headBytes), open: begun };
  }
  if (length > maxControlBytes) throw new SpdyError(`control frame too large: ${length} bytes`);
  if (bytes.length < headBytes + length) return undefined;
  const frame = readControl(bytes.subarray(0, headBytes + length), flags);
  const left = bytes.subarray(headBytes + length);
  return frame === undefined ? { bytes: left } : { bytes: left, frame };
}

function readData(bytes: Buffer, { stream, isFinal, left }: OpenData): Step {
  const part = bytes.subarray(0, left);
  const missing = left - part.length;
  return {
    bytes: bytes.subarray(part.length),
    frame: { kind: 'data', stream, isFinal: isFinal && missing === 0, bytes: part },
    ...(missing === 0 ? {} : { open: { stream, isFinal, left: missing } }),
  };
}

/** Undefined for unknown frames, which are skipped. */
function readControl(frame: Buffer, flags: number): SpdyFrame | undefined {
  const frameVersion = frame.readUInt16BE(0) & 0x7fff;
  if (frameVersion !== version) throw new SpdyError(`unsupported version ${frameVersion}, want 3`);
  const body = frame.subarray(headBytes);
  const number = (at: number): number => {
    if (at + 4 > body.length) throw new SpdyError('truncated control frame');
    return body.readUInt32BE(at);
  };
  const stream = (): number => number(0) & 0x7fff_ffff;
  switch (frame.readUInt16BE(2)) {
    case type.synStream:
      if (body.length < 10) throw new SpdyError('truncated control frame');
      return {
        kind: 'synStream',
        stream: stream(),
        isFinal: (flags & finalFlag) !== 0,
        isOneWay: (flags & oneWayFlag) !== 0,
        headers: body.subarray(10),
      };
    case type.synReply:
      return { kind: 'synReply', stream: stream(), headers: body.subarray(4) };
    case type.headers:
      return { kind: 'headers', stream: stream(), headers: body.subarray(4) };
    case type.reset:
      return { kind: 'reset', stream: stream(), status: number(4) };
    case type.settings:
      return readSettings(body, number(0));
    case type.ping:
      return { kind: 'ping', id: number(0) };
    case type.goAway:
      return { kind: 'goAway' };
    case type.windowUpdate:
      return { kind: 'windowUpdate', stream: stream(), delta: number(4) & 0x7fff_ffff };
    default:
      return undefined;
  }
}

function readSettings(body: Buffer, count: number): SpdyFrame {
  for (let at = 4; at + 8 <= body.length && at < 4 + count * 8; at += 8) {
    const id = body.readUInt32BE(at) & 0xff_ffff;
    if (id === initialWindowSetting)
      return { kind: 'settings', initialWindow: body.readUInt32BE(at + 4) & 0x7fff_ffff };
  }
  return { kind: 'settings' };
}

export function dataFrame(stream: number, bytes: Uint8Array, isFinal = false): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(stream, 0);
  head.writeUInt32BE(bytes.length, 4);
  if (isFinal) head.writeUInt8(finalFlag, 4);
  return bytes.length === 0 ? head : Buffer.concat([head, bytes]);
}

export const synReplyFrame = (stream: number, headers: Uint8Array): Buffer =>
  control(type.synReply, [numbers(stream), headers]);

export const resetFrame = (stream: number, status: number): Buffer =>
  control(type.reset, [numbers(stream, status)]);

export const pingFrame = (id: number): Buffer => control(type.ping, [numbers(id)]);

/** Status 0: no error. */
export const goAwayFrame = (lastStream: number): Buffer =>
  control(type.goAway, [numbers(lastStream, 0)]);

export const windowUpdateFrame = (stream: number, delta: number): Buffer =>
  control(type.windowUpdate, [numbers(stream, delta)]);

/** For tests: sent by clients to open a stream. */
export const synStreamFrame = (stream: number, headers: Uint8Array): Buffer =>
  control(type.synStream, [numbers(stream, 0), Buffer.alloc(2), headers]);

function control(kind: number, parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(headBytes);
  head.writeUInt16BE(0x8000 | version, 0);
  head.writeUInt16BE(kind, 2);
  head.writeUInt32BE(body.length, 4);
  return Buffer.concat([head, body]);
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4);
  return bytes;
}
