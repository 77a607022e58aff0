// The server side of a SPDY/3.1 connection: each stream opened by the client is a Duplex.
//
// Flow control: kubectl's SPDY neither sends nor honors WINDOW_UPDATE, so a server that waits for one would hang after 64 KiB. The client's
// windows therefore apply only after it has sent a SETTINGS or WINDOW_UPDATE frame; ours are always sent. In any case the connection's
// own back-pressure applies: nothing is read while a stream is full, nothing is written faster than the client reads.
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
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  /** Sends GOAWAY after all data, and closes. */
  readonly close: () => void;
};

export type StreamHandler = (stream: Duplex, headers: SpdyHeaders) => void;

/** Two for each forwarded connection. */
const maxStreams = 4096;
/** Buffered data of one stream before the whole connection is paused. */
const maxUnread = 1024 * 1024;
/** After GOAWAY, for a client that is still reading. */
const closeTimeoutMs = 10_000;
const maxFrameBytes = 64 * 1024;

type Session = {
  readonly socket: Duplex;
  readonly onStream: StreamHandler;
  readonly streams: Map<number, Duplex>;
  /** Streams whose read buffer is full. */
  readonly full: Set<number>;
  readonly windows: Windows;
  readonly readHeaders: (block: Uint8Array) => SpdyHeaders;
  readonly writeHeaders: (headers: Readonly<Record<string, string>>) => Buffer;
  lastStream: number;
  isClosing: boolean;
};

export function serveSpdySession(socket: Duplex, onStream: StreamHandler): SpdySession {
  const session: Session = {
    socket,
    onStream,
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
      // The connection cannot continue after an invalid frame.
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
  const timer = setTimeout(() => socket.destroy(), closeTimeoutMs).unref();
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
      // Unused, but later headers are compressed relative to these.
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
      // Even ids would be replies to our pings; we send none.
      if (frame.id % 2 === 1 && !session.isClosing) socket.write(pingFrame(frame.id));
      return;
    case 'goAway':
      return;
  }
}

function open(session: Session, frame: Extract<SpdyFrame, { kind: 'synStream' }>): void {
  const { socket, streams, onStream } = session;
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
  onStream(stream, headers);
  if (frame.isFinal) stream.push(null);
  if (frame.isOneWay) stream.end();
}

function receive(session: Session, { stream: id, bytes, isFinal }: Received): void {
  const stream = session.streams.get(id);
  session.windows.received(0, bytes.length);
  if (stream === undefined || stream.destroyed || stream.readableEnded) {
    // Data for a closed stream must not use up the connection's window.
    acknowledge(session, 0, bytes.length);
    return;
  }
  session.windows.received(id, bytes.length);
  if (bytes.length > 0 && !stream.push(bytes)) pauseReading(session, id);
  if (isFinal) stream.push(null);
}

type Received = Extract<SpdyFrame, { kind: 'data' }>;

function pauseReading({ socket, full }: Session, id: number): void {
  full.add(id);
  socket.pause();
}

function resumeReading({ socket, full }: Session, id: number): void {
  if (full.delete(id) && full.size === 0) socket.resume();
}

/** Grants the client more of the window. */
function acknowledge({ socket, windows, isClosing }: Session, id: number, bytes: number): void {
  const delta = windows.acknowledge(id, bytes);
  if (delta > 0 && !isClosing) socket.write(windowUpdateFrame(id, delta));
}

function createStream(session: Session, id: number): Duplex {
  const { socket, streams, windows } = session;
  const stream = new Duplex({
    readableHighWaterMark: maxUnread,
    writableHighWaterMark: maxFrameBytes,
    read() {
      for (const segments of [id, 0]) acknowledge(session, segments, windows.unread(segments));
      resumeReading(session, id);
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
      resumeReading(session, id);
      acknowledge(session, 0, windows.unread(0));
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

/** Sends what the client's window permits, and the rest when it has grown. */
function send(session: Session, id: number, chunk: Buffer, done: (error?: Error) => void): void {
  const { socket, windows } = session;
  if (!socket.writable || session.isClosing) {
    done(new Error('the connection is closed'));
    return;
  }
  const size = windows.reserve(id, Math.min(chunk.length, maxFrameBytes));
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
