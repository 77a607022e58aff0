// gRPC's framing: each message is preceded by a byte that says whether it is compressed, and four with its length.

const headerBytes = 5;

/** Not compressed. */
export function toFrame(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, headerBytes);
  return frame;
}

export class FrameTooLarge extends Error {
  override readonly name = 'FrameTooLarge';
}

/**
 * Assembles messages from the chunks they arrive in; each byte is copied at most once. Throws FrameTooLarge for a message that
 * announces more than `maxMessageBytes`.
 */
export function createFrameReader(maxMessageBytes: number): (chunk: Buffer) => readonly Buffer[] {
  let chunks: Buffer[] = [];
  let buffered = 0;
  /** Until the first message is complete, or its header. */
  let needed = headerBytes;
  return (chunk) => {
    chunks.push(chunk);
    buffered += chunk.length;
    const messages: Buffer[] = [];
    if (buffered < needed) return messages;
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks);
    needed = frameBytes(rest, maxMessageBytes);
    while (rest.length >= needed) {
      messages.push(rest.subarray(headerBytes, needed));
      rest = rest.subarray(needed);
      needed = frameBytes(rest, maxMessageBytes);
    }
    chunks = rest.length === 0 ? [] : [rest];
    buffered = rest.length;
    return messages;
  };
}

/** Of the first frame, as far as its header says. */
function frameBytes(bytes: Buffer, maxMessageBytes: number): number {
  const length = bytes.length < headerBytes ? 0 : bytes.readUInt32BE(1);
  if (length <= maxMessageBytes) return headerBytes + length;
  throw new FrameTooLarge(`a message of ${length} bytes, more than ${maxMessageBytes}`);
}
