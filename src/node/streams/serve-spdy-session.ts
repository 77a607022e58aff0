// The server's end of a SPDY/3.1 connection: streams that the client opens, each a Duplex.
//
// Windows: kubectl's SPDY neither sends nor heeds WINDOW_UPDATE, so a server that waited for one would wait for ever after 64 KiB. Windows of
// the client therefore count from the moment it speaks of windows at all; ours are always told. What holds in any case is the
// connection's own back-pressure: nothing more is read while a stream is full, nothing more is written than the client takes.
import { Duplex } from 'node:stream';
import { createHeaderReader, createHeaderWriter, type SpdyHeaders } from './read-spdy-headers.ts';
import {
  createFrameReader,
  dataFrame,
  goAwayFrame,
  pingFrame,
  resetFrame,
  resetStatus,
  type SpdyFrame,
  synReplyFrame,
  windowUpdateFrame,
} from './spdy-frames.ts';
import { createWindows, type Windows } from './spdy-windows.ts';

export type SpdySession = {
  /** Resolves when the connection is gone. */
  readonly closed: Promise<void>;
  /** Says goodbye after all that was written, and closes. */
  readonly close: () => void;
};

export type TakeStream = (stream: Duplex, headers: SpdyHeaders) => void;

/** Two for each forwarded connection. */
const maxStreams = 4096;
/** Of one stream that nobody reads, before the whole connection waits. */
const maxUnread = 1024 * 1024;
/** A client that has been told goodbye may still be reading. */
const lingerMs = 10_000;
const largestFrame = 64 * 1024;

type Session = {
  readonly socket: Duplex;
  readonly take: TakeStream;
  readonly streams: Map<number, Duplex>;
  /** Streams that want nothing more now. */
  readonly full: Set<number>;
  readonly windows: Windows;
  readonly readHeaders: (block: Uint8Array) => SpdyHeaders;
  readonly writeHeaders: (headers: Readonly<Record<string, string>>) => Buffer;
  lastStream: number;
  isClosing: boolean;
};

export function serveSpdySession(socket: Duplex, take: TakeStream): SpdySession {
  const session: Session = {
    socket,
    take,
    streams: new Map(),
    full: new Set(),
    windows: createWindows(),
    readHeaders: createHeaderReader(),
    writeHeaders: createHeaderWriter(),
    lastStream: 0,
    isClosing: false,
  };
  const read = createFrameReader();
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const frame of read(chunk)) answer(session, frame);
    } catch (error) {
      // After a frame that cannot be read nothing else can.
      socket.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  });
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  const closed = new Promise<void>((resolve) =>
    socket.once('close', () => {
      session.isClosing = true;
      for (const stream of session.streams.values()) stream.destroy();
      resolve();
    }),
  );
  return { closed, close: () => close(session) };
}

function close(session: Session): void {
  const { socket, streams, full, lastStream } = session;
  if (session.isClosing) return;
  session.isClosing = true;
  for (const stream of streams.values()) stream.destroy();
  full.clear();
  socket.resume();
  socket.write(goAwayFrame(lastStream));
  socket.end();
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(timer));
}

function answer(session: Session, frame: SpdyFrame): void {
  const { socket, streams, windows, readHeaders } = session;
  switch (frame.kind) {
    case 'synStream':
      open(session, frame);
      return;
    case 'synReply':
    case 'headers':
      // Not of use, but the next ones cannot be read without these.
      readHeaders(frame.headers);
      return;
    case 'data':
      receive(session, frame);
      return;
    case 'reset': {
      const stream = streams.get(frame.stream);
      streams.delete(frame.stream);
      stream?.destroy();
      return;
    }
    case 'settings':
      if (frame.initialWindow !== undefined) windows.setInitial(frame.initialWindow);
      return;
    case 'windowUpdate':
      if (frame.stream === 0 || streams.has(frame.stream)) windows.grow(frame.stream, frame.delta);
      return;
    case 'ping':
      // Even numbers are answers to our own, of which there are none.
      if (frame.id % 2 === 1 && !session.isClosing) socket.write(pingFrame(frame.id));
      return;
    case 'goAway':
      return;
  }
}

function open(session: Session, frame: Extract<SpdyFrame, { kind: 'synStream' }>): void {
  const { socket, streams, take } = session;
  const headers = session.readHeaders(frame.headers);
  if (session.isClosing) return;
  const id = frame.stream;
  const isWrong = id % 2 === 0 || id <= session.lastStream;
  if (isWrong || streams.size >= maxStreams) {
    const { protocolError, refused } = resetStatus;
    socket.write(resetFrame(id, isWrong ? protocolError : refused));
    return;
  }
  session.lastStream = id;
  const stream = createStream(session, id);
  streams.set(id, stream);
  socket.write(synReplyFrame(id, session.writeHeaders({})));
  take(stream, headers);
  if (frame.isFinal) stream.push(null);
  if (frame.isOneWay) stream.end();
}

function receive(session: Session, { stream: id, bytes, isFinal }: Received): void {
  const stream = session.streams.get(id);
  session.windows.received(0, bytes.length);
  if (stream === undefined || stream.destroyed || stream.readableEnded) {
    // What nobody will read must not use up the connection's window.
    taken(session, 0, bytes.length);
    return;
  }
  session.windows.received(id, bytes.length);
  if (bytes.length > 0 && !stream.push(bytes)) hold(session, id);
  if (isFinal) stream.push(null);
}

type Received = Extract<SpdyFrame, { kind: 'data' }>;

function hold({ socket, full }: Session, id: number): void {
  full.add(id);
  socket.pause();
}

function letGo({ socket, full }: Session, id: number): void {
  if (full.delete(id) && full.size === 0) socket.resume();
}

/** The client may send as much again. */
function taken({ socket, windows, isClosing }: Session, id: number, bytes: number): void {
  const delta = windows.taken(id, bytes);
  if (delta > 0 && !isClosing) socket.write(windowUpdateFrame(id, delta));
}

function createStream(session: Session, id: number): Duplex {
  const { socket, streams, windows } = session;
  const stream = new Duplex({
    readableHighWaterMark: maxUnread,
    writableHighWaterMark: largestFrame,
    read() {
      for (const place of [id, 0]) taken(session, place, windows.unread(place));
      letGo(session, id);
    },
    write(chunk: Buffer, _encoding, done) {
      send(session, id, chunk, done);
    },
    final(done) {
      if (!socket.writable || session.isClosing) done();
      else socket.write(dataFrame(id, Buffer.alloc(0), true), () => done());
    },
    destroy(error, done) {
      const isKnown = streams.delete(id);
      letGo(session, id);
      taken(session, 0, windows.unread(0));
      windows.forget(id);
      const isWhole = stream.readableEnded && stream.writableFinished;
      if (isKnown && !isWhole && !session.isClosing && socket.writable)
        socket.write(resetFrame(id, resetStatus.cancel));
      done(error);
    },
  });
  stream.on('error', () => {});
  return stream;
}

/** As much as the client's window lets pass, the rest when it has grown. */
function send(session: Session, id: number, chunk: Buffer, done: (error?: Error) => void): void {
  const { socket, windows } = session;
  if (!socket.writable || session.isClosing) {
    done(new Error('the connection is gone'));
    return;
  }
  const size = windows.reserve(id, Math.min(chunk.length, largestFrame));
  if (size === 0) {
    windows.wait(id, () => send(session, id, chunk, done));
    return;
  }
  const rest = chunk.subarray(size);
  socket.write(dataFrame(id, chunk.subarray(0, size)), (error) => {
    if (error) done(error);
    else if (rest.length > 0) send(session, id, rest, done);
    else done();
  });
}
