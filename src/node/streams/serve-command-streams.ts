// The streams of one exec or attach, over WebSocket or SPDY.
import type { Duplex, Readable, Writable } from 'node:stream';
import type { WebSocket } from 'ws';
import { serveSpdySession } from './serve-spdy-session.ts';
import { openChannels } from './serve-web-socket.ts';
import type { CommandProtocol } from './stream-protocols.ts';
import type { CommandRequest } from './stream-request.ts';
import { type StreamStatus, statusText } from './stream-status.ts';

export type CommandStreams = {
  readonly input?: Readable;
  readonly output?: Writable;
  readonly errors?: Writable;
  /** Sizes of the client's window, as JSON. */
  readonly sizes?: Readable;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  /** Sends the status after all output has been written, and closes the connection. */
  readonly finish: (status: StreamStatus) => Promise<void>;
};

type StreamName = 'stdin' | 'stdout' | 'stderr' | 'error' | 'resize';

/** The index is the channel number of a WebSocket. */
const channelNames: readonly StreamName[] = ['stdin', 'stdout', 'stderr', 'error', 'resize'];

function wantedNames(
  request: CommandRequest,
  { canResize }: CommandProtocol,
): readonly StreamName[] {
  const wanted: Readonly<Record<StreamName, boolean>> = {
    stdin: request.hasInput,
    stdout: request.hasOutput,
    stderr: request.hasErrors,
    error: true,
    resize: request.hasTerminal && canResize,
  };
  return channelNames.filter((name) => wanted[name]);
}

export function webSocketStreams(
  webSocket: WebSocket,
  protocol: CommandProtocol,
  request: CommandRequest,
): CommandStreams {
  const channels = openChannels(webSocket, protocol);
  const names = wantedNames(request, protocol);
  const streams = new Map(names.map((name) => [name, channels.open(channelNames.indexOf(name))]));
  // An empty message tells the client that it is connected, before there is output.
  const first = channelNames.find((name) => name !== 'stdin' && streams.has(name));
  streams.get(first ?? 'error')?.write(Buffer.alloc(0));
  return assemble(streams, protocol, channels);
}

/** How long a client may take to open the requested streams. */
const openingMs = 30_000;

/** Resolves when the client has opened all its streams; rejects when it does not. */
export function spdyStreams(
  socket: Duplex,
  protocol: CommandProtocol,
  request: CommandRequest,
): Promise<CommandStreams> {
  const missing = new Set<string>(wantedNames(request, protocol));
  const streams = new Map<string, Duplex>();
  return new Promise((resolve, reject) => {
    const session = serveSpdySession(socket, (stream, headers) => {
      const name = headers.get('streamtype') ?? '';
      if (!missing.delete(name)) {
        stream.destroy();
        return;
      }
      streams.set(name, stream);
      if (missing.size > 0) return;
      clearTimeout(timer);
      resolve(assemble(streams, protocol, session));
    });
    const timer = setTimeout(() => {
      session.close();
      reject(new Error('timed out waiting for client to create streams'));
    }, openingMs);
    void session.closed.then(() => {
      clearTimeout(timer);
      reject(new Error('the client has disconnected'));
    });
  });
}

type Connection = { readonly closed: Promise<void>; readonly close: () => void };

function assemble(
  streams: ReadonlyMap<string, Duplex>,
  { hasStatus }: CommandProtocol,
  { closed, close }: Connection,
): CommandStreams {
  const [input, output, errors, error, sizes] = channelNames.map((name) => streams.get(name));
  return {
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(errors === undefined ? {} : { errors }),
    ...(sizes === undefined ? {} : { sizes }),
    closed,
    async finish(status) {
      await Promise.race([closed, Promise.all([output, errors].map(ended))]);
      error?.write(statusText(status, hasStatus));
      await Promise.race([closed, ended(error)]);
      close();
      await closed;
    },
  };
}

/** Resolves when all data has been flushed. */
function ended(stream: Writable | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (stream === undefined || stream.destroyed) resolve();
    else {
      stream.once('close', () => resolve());
      stream.end(() => resolve());
    }
  });
}
