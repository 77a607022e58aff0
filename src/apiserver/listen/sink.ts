// A streamed body, written to a client that may read slowly or disconnect.
import { endLater } from '../../host/end-later.ts';
import type { Sink } from '../message.ts';
import type { Connection } from './connection.ts';
import type { ServerState } from './state.ts';

/** The writable side of both versions of HTTP. */
export type Outlet = {
  readonly writableLength: number;
  readonly write: (chunk: Uint8Array) => unknown;
  readonly end: () => unknown;
  readonly destroy: () => unknown;
  readonly once: (event: 'drain' | 'close', listener: () => void) => unknown;
};

/** How long a client may take to read the rest after its stream has ended. */
const lingerMs = 30_000;

export function openSink(outlet: Outlet, connection: Connection, state: ServerState): Sink {
  let isOpen = true;
  const listeners: (() => void)[] = [];
  const abort = (): void => endLater(outlet);
  const reader = { connection, unread: () => outlet.writableLength, cut: abort };
  const closed = (): void => {
    if (!isOpen) return;
    isOpen = false;
    state.streams.delete(sink);
    for (const listener of listeners) listener();
  };
  outlet.once('close', () => {
    state.unread.closed(reader);
    closed();
  });
  const sink: Sink = {
    write: (chunk) => {
      if (!isOpen) return;
      outlet.write(chunk);
      state.unread.wrote(reader, chunk.length);
    },
    buffered: () => outlet.writableLength,
    abort,
    onDrain: (listener) => outlet.once('drain', listener),
    end: () => {
      if (!isOpen) return;
      outlet.end();
      const timer = setTimeout(abort, lingerMs).unref();
      outlet.once('close', () => clearTimeout(timer));
      closed();
    },
    onClose: (listener) => {
      if (isOpen) listeners.push(listener);
      else listener();
    },
  };
  state.streams.add(sink);
  return sink;
}
