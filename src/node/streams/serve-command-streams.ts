// The streams of one command on a connection, whichever way the client speaks.
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
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
  /** The last word, after all that was written; then the connection ends. */
  readonly finish: (status: StreamStatus) => Promise<void>;
};

type StreamName = 'stdin' | 'stdout' | 'stderr' | 'error' | 'resize';

/** The order gives the numbers of a WebSocket's channels. */
const channelNames: readonly StreamName[] = ['stdin', 'stdout', 'stderr', 'error', 'resize'];

function wantedNames(wish: CommandRequest, { canResize }: CommandProtocol): readonly StreamName[] {
  const wanted: Readonly<Record<StreamName, boolean>> = {
    stdin: wish.hasInput,
    stdout: wish.hasOutput,
    stderr: wish.hasErrors,
    error: true,
    resize: wish.hasTerminal && canResize,
  };
  return channelNames.filter((name) => wanted[name]);
}

export function webSocketStreams(
  webSocket: WebSocket,
  protocol: CommandProtocol,
  wish: CommandRequest,
): CommandStreams {
  const channels = openChannels(webSocket, protocol);
  const names = wantedNames(wish, protocol);
  const streams = new Map(names.map((name) => [name, channels.open(channelNames.indexOf(name))]));
  // An empty message tells the client that it is connected, before there is anything to say.
  const first = channelNames.find((name) => name !== 'stdin' && streams.has(name));
  streams.get(first ?? 'error')?.write(Buffer.alloc(0));
  return assemble(streams, protocol, channels);
}

/** How long a client may take to open the streams that it asked for. */
const openingMs = 30_000;

/** Resolves when the client has opened all its streams; rejects when it does not. */
export function spdyStreams(
  socket: Duplex,
  protocol: CommandProtocol,
  wish: CommandRequest,
): Promise<CommandStreams> {
  const missing = new Set<string>(wantedNames(wish, protocol));
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
      reject(new Error('the client has gone'));
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

/** When all that was written is on its way. */
function ended(stream: Writable | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (stream === undefined || stream.destroyed) resolve();
    else {
      stream.once('close', () => resolve());
      stream.end(() => resolve());
    }
  });
}
