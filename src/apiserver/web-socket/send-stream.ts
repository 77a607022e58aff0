// Sends a streamed body as messages of a WebSocket.
import type { Duplex } from 'node:stream';
import type { ApiResponse, Sink, Stream, VerbRequest } from '../message.ts';
import { closeFrame, createFrameReader, messageFrame, pongFrame } from './frames.ts';
import { acceptHandshake } from './handshake.ts';

/** Makes frames of the chunks of the stream. */
export type Framing = {
  /** Sent before anything else. */
  readonly first?: Buffer;
  readonly frames: (chunk: Uint8Array) => readonly Buffer[];
};

/** By name of the protocol; '' is for clients that name none. */
export type Framings = Readonly<Record<string, Framing>>;

export function sendOverWebSocket(
  request: VerbRequest,
  body: Stream,
  framings: Framings,
): ApiResponse {
  const handshake = acceptHandshake(request, Object.keys(framings));
  if ('refusal' in handshake) return handshake.refusal;
  const framing = framings[handshake.protocol];
  return {
    status: 101,
    headers: handshake.headers,
    body: {
      tunnelTo(client) {
        if (framing !== undefined) body.start(openWebSocketSink(client, framing));
      },
    },
  };
}

/** How long a client may take to read the rest after the stream has ended. */
const lingerMs = 30_000;

function openWebSocketSink(client: Duplex, { first, frames }: Framing): Sink {
  let isOpen = true;
  const listeners: (() => void)[] = [];
  const closed = (): void => {
    if (!isOpen) return;
    isOpen = false;
    for (const listener of listeners) listener();
  };
  const end = (): void => {
    if (!isOpen) return;
    client.end(closeFrame());
    const timer = setTimeout(() => client.destroy(), lingerMs).unref();
    client.once('close', () => clearTimeout(timer));
    closed();
  };
  const read = createFrameReader();
  client.on('data', (chunk: Buffer) => {
    if (!isOpen) return;
    for (const received of read(chunk)) {
      if (received.kind === 'ping') client.write(pongFrame(received.payload));
      else end();
    }
    // Pongs to a client that does not read would pile up.
    if (client.writableNeedDrain) {
      client.pause();
      client.once('drain', () => client.resume());
    }
  });
  client.once('close', closed);
  client.once('end', end);
  client.on('error', closed);
  if (first !== undefined) client.write(first);
  return {
    write(chunk) {
      if (isOpen) for (const message of frames(chunk)) client.write(message);
    },
    buffered: () => client.writableLength,
    end,
    abort: () => client.destroy(),
    onDrain: (listener) => client.once('drain', listener),
    onClose(listener) {
      if (isOpen) listeners.push(listener);
      else listener();
    },
  };
}

const emptyMessage = new Uint8Array();

/** Upstream's (wsstream.NewDefaultReaderProtocols): bytes as they arrive, after an empty message that signals success. */
export const byteFramings: Framings = {
  '': {
    first: messageFrame('binary', emptyMessage),
    frames: (chunk) => [messageFrame('binary', chunk)],
  },
  'binary.k8s.io': {
    first: messageFrame('binary', emptyMessage),
    frames: (chunk) => [messageFrame('binary', chunk)],
  },
  'base64.binary.k8s.io': {
    first: messageFrame('text', emptyMessage),
    frames: (chunk) => [messageFrame('text', Buffer.from(Buffer.from(chunk).toString('base64')))],
  },
};

/** A message for each event of a watch; JSON as text. A client that names a protocol is refused, as upstream does. */
export const jsonEventFramings: Framings = {
  '': { frames: (chunk) => jsonEvents(chunk).map((event) => messageFrame('text', event)) },
};

const newline = 10;

function jsonEvents(chunk: Uint8Array): readonly Uint8Array[] {
  const events: Uint8Array[] = [];
  for (let from = 0; from < chunk.length; ) {
    const at = chunk.indexOf(newline, from);
    const to = at === -1 ? chunk.length : at + 1;
    events.push(chunk.subarray(from, to));
    from = to;
  }
  return events;
}

/** Events in protobuf are length-prefixed, which a message does not need. */
export const protobufEventFramings: Framings = {
  '': { frames: (chunk) => protobufEvents(chunk).map((event) => messageFrame('binary', event)) },
};

const lengthBytes = 4;

function protobufEvents(chunk: Uint8Array): readonly Uint8Array[] {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const events: Uint8Array[] = [];
  for (let from = 0; from + lengthBytes <= chunk.length; ) {
    const start = from + lengthBytes;
    from = start + view.getUint32(from);
    events.push(chunk.subarray(start, from));
  }
  return events;
}
