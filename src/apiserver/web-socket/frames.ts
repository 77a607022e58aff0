// WebSocket frames (RFC 6455) of a server that only sends: messages out; close and ping in, other frames are skipped.

export type MessageType = 'text' | 'binary';

const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
const finalFrame = 0x80;
const maskedFrame = 0x80;
const maxShortLength = 125;
const maxMediumLength = 0xffff;

export const messageFrame = (type: MessageType, payload: Uint8Array): Buffer =>
  frame(opcodes[type], payload);

export const pongFrame = (payload: Uint8Array): Buffer => frame(opcodes.pong, payload);

/** Without a status code, as upstream's server closes. */
export const closeFrame = (): Buffer => frame(opcodes.close, new Uint8Array());

function frame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const extra = length <= maxShortLength ? 0 : length <= maxMediumLength ? 2 : 8;
  const bytes = Buffer.allocUnsafe(2 + extra + length);
  bytes[0] = finalFrame | opcode;
  bytes[1] = extra === 0 ? length : extra === 2 ? maxShortLength + 1 : maxShortLength + 2;
  if (extra === 2) bytes.writeUInt16BE(length, 2);
  if (extra === 8) bytes.writeBigUInt64BE(BigInt(length), 2);
  bytes.set(payload, 2 + extra);
  return bytes;
}

/** Frames of the client; `broken` is a protocol violation. */
export type Received =
  | { readonly kind: 'ping'; readonly payload: Buffer }
  | { readonly kind: 'close' }
  | { readonly kind: 'broken' };

/** Takes bytes as they come. Holds at most one frame's head and the payload of one control frame. */
export function createFrameReader(): (chunk: Buffer) => readonly Received[] {
  let pending: Buffer = Buffer.alloc(0);
  /** Remaining payload of a data frame that is skipped. */
  let skipped = 0n;
  const skip = (): void => {
    const dropped = skipped < BigInt(pending.length) ? Number(skipped) : pending.length;
    pending = pending.subarray(dropped);
    skipped -= BigInt(dropped);
  };
  return (chunk) => {
    const received: Received[] = [];
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    skip();
    for (let next = readFrame(pending); next !== undefined; next = readFrame(pending)) {
      pending = pending.subarray(next.size);
      skipped = next.skipped;
      skip();
      if (next.received !== undefined) received.push(next.received);
    }
    return received;
  };
}

type Frame = {
  /** Bytes that are consumed, and bytes after those to skip. */
  readonly size: number;
  readonly skipped: bigint;
  readonly received?: Received;
};

/** Undefined: it is incomplete. */
function readFrame(bytes: Buffer): Frame | undefined {
  const head = readHead(bytes);
  if (head === undefined) return undefined;
  const { opcode, length, size } = head;
  const isControl = opcode >= opcodes.close;
  if (!head.isMasked || (isControl && length > BigInt(maxShortLength))) {
    return { size: bytes.length, skipped: 0n, received: { kind: 'broken' } };
  }
  if (!isControl) return { size, skipped: length };
  const end = size + Number(length);
  if (bytes.length < end) return undefined;
  const payload = unmasked(bytes.subarray(size - 4, size), bytes.subarray(size, end));
  const frame = { size: end, skipped: 0n };
  if (opcode === opcodes.ping) return { ...frame, received: { kind: 'ping', payload } };
  return opcode === opcodes.close ? { ...frame, received: { kind: 'close' } } : frame;
}

type Head = {
  readonly opcode: number;
  readonly isMasked: boolean;
  readonly length: bigint;
  /** Of the head, the mask included. */
  readonly size: number;
};

function readHead(bytes: Buffer): Head | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  const isMasked = (second & maskedFrame) !== 0;
  const short = second & ~maskedFrame;
  const extra = short <= maxShortLength ? 0 : short === maxShortLength + 1 ? 2 : 8;
  const size = 2 + extra + (isMasked ? 4 : 0);
  if (bytes.length < size) return undefined;
  const length =
    extra === 0
      ? BigInt(short)
      : extra === 2
        ? BigInt(bytes.readUInt16BE(2))
        : bytes.readBigUInt64BE(2);
  return { opcode: first & 0x0f, isMasked, length, size };
}

function unmasked(mask: Buffer, payload: Buffer): Buffer {
  return Buffer.from(payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
}
