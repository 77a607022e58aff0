// gRPC over Node's HTTP/2: one connection to one member, calls with one answer and calls with a stream of them. Small
// because that is all there is to it, and it takes a third of the processor time of the general library.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type SecureClientSessionOptions,
} from 'node:http2';
import { endLater } from '../../../host/end-later.ts';
import { type KeepAlive, keepAlive } from './keep-alive.ts';

/** etcd refused, or the connection broke; `status` is gRPC's number. */
export class GrpcError extends Error {
  readonly status: number;
  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GrpcError';
    this.status = status;
  }
}

export const grpcStatus = { deadlineExceeded: 4, outOfRange: 11, unavailable: 14 } as const;

export type GrpcStream = {
  readonly send: (message: Uint8Array) => void;
  /** Ends with GrpcError, or quietly after `close`. */
  readonly answers: AsyncIterable<Uint8Array>;
  readonly close: () => void;
};

export type GrpcChannel = {
  /** Resolves when calls can be made; rejects when nobody answers there. */
  readonly ready: Promise<void>;
  readonly call: (path: string, message: Uint8Array, timeoutMs: number) => Promise<Uint8Array>;
  readonly stream: (path: string) => GrpcStream;
  /** Whether new calls can be made on it. */
  readonly isUsable: () => boolean;
  readonly close: () => void;
};

/** Who does not take a connection in this time is not there. */
const connectLimitMs = 3000;
/** etcd's largest answers are lists that we cut into pages; windows this wide keep them from stopping. */
const windowBytes = 8 << 20;

export function openChannel(endpoint: string, tls: SecureClientSessionOptions): GrpcChannel {
  const session = connect(endpoint, { ...tls, settings: { initialWindowSize: windowBytes } });
  let failure: Error | undefined;
  let isEnding = false;
  const end = (error?: Error): void => {
    isEnding = true;
    failure ??= error;
    endLater(session, error);
  };
  const isGone = (): boolean => isEnding || session.destroyed;
  session.on('error', (error) => {
    failure = error;
  });
  session.on('connect', () => {
    // Given up a moment ago, it may still say that it stands.
    if (!session.destroyed) session.setLocalWindowSize(windowBytes * 2);
  });
  const alive = keepAlive(session, end);
  const ready = new Promise<void>((resolve, reject) => {
    session.once('connect', () => resolve());
    session.once('close', () => reject(reason()));
    setTimeout(() => reject(reason()), connectLimitMs).unref();
  });
  ready.catch(() => end());
  const reason = (): GrpcError =>
    new GrpcError(grpcStatus.unavailable, failure?.message ?? 'the connection was closed', {
      cause: failure,
    });
  return {
    ready,
    call: (path, message, timeoutMs) =>
      isGone()
        ? Promise.reject(reason())
        : call({ session, alive, brokenBy: reason }, { path, message, timeoutMs }),
    stream(path) {
      if (isGone()) throw reason();
      return stream({ session, alive, brokenBy: reason }, path);
    },
    isUsable: () => !isGone() && !session.closed,
    close: () => end(),
  };
}

function begin(session: ClientHttp2Session, path: string): ClientHttp2Stream {
  return session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    // A member that is cut off from the others must say so instead of waiting with us.
    hasleader: 'true',
  });
}

type Line = {
  readonly session: ClientHttp2Session;
  readonly alive: KeepAlive;
  readonly brokenBy: () => GrpcError;
};
type Call = { readonly path: string; readonly message: Uint8Array; readonly timeoutMs: number };

function call(
  { session, alive, brokenBy }: Line,
  { path, message, timeoutMs }: Call,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const request = begin(session, path);
    alive.begun();
    const read = createFrameReader();
    let answer: Buffer | undefined;
    let refusal: GrpcError | undefined;
    const timer = setTimeout(() => {
      refusal = new GrpcError(grpcStatus.deadlineExceeded, `no answer within ${timeoutMs} ms`);
      request.close(constants.NGHTTP2_CANCEL);
    }, timeoutMs);
    request.on('response', (headers) => {
      alive.heard();
      refusal = refusalIn(headers) ?? refusal;
    });
    request.on('trailers', (trailers) => {
      refusal = refusalIn(trailers) ?? refusal;
    });
    request.on('data', (piece: Buffer) => {
      answer = read(piece)[0] ?? answer;
    });
    request.on('error', () => {});
    request.on('close', () => {
      clearTimeout(timer);
      alive.ended();
      if (refusal === undefined && answer !== undefined) resolve(answer);
      else reject(refusal ?? brokenBy());
    });
    request.end(framed(message));
  });
}

function stream({ session, alive, brokenBy }: Line, path: string): GrpcStream {
  const request = begin(session, path);
  let refusal: GrpcError | undefined;
  let isClosed = false;
  request.on('response', (headers) => {
    refusal = refusalIn(headers) ?? refusal;
  });
  request.on('trailers', (trailers) => {
    refusal = refusalIn(trailers) ?? refusal;
  });
  request.on('error', () => {});
  async function* answers(): AsyncGenerator<Uint8Array> {
    const read = createFrameReader();
    try {
      // Who stops listening says so by `close`.
      for await (const piece of request.iterator({ destroyOnReturn: false })) {
        alive.heard();
        yield* read(piece as Buffer);
      }
    } catch (cause) {
      if (!isClosed)
        throw refusal ?? new GrpcError(grpcStatus.unavailable, String(cause), { cause });
    }
    if (!isClosed) throw refusal ?? brokenBy();
  }
  return {
    send: (message) => void request.write(framed(message)),
    answers: answers(),
    close() {
      isClosed = true;
      request.close(constants.NGHTTP2_CANCEL);
    },
  };
}

function refusalIn(headers: Readonly<Record<string, unknown>>): GrpcError | undefined {
  const status = headers['grpc-status'];
  const http = headers[':status'];
  if (http !== undefined && http !== 200) {
    return new GrpcError(grpcStatus.unavailable, `HTTP status ${String(http)}`);
  }
  if (status === undefined || status === '0') return undefined;
  const text = headers['grpc-message'];
  return new GrpcError(Number(status), typeof text === 'string' ? decodeURIComponent(text) : '');
}

const frameHeaderBytes = 5;

/** Not compressed, and how long it is. */
function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(frameHeaderBytes + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, frameHeaderBytes);
  return frame;
}

/** Puts messages together from the pieces they come in, copying each byte once however many pieces there are. */
function createFrameReader(): (piece: Buffer) => readonly Buffer[] {
  let pieces: Buffer[] = [];
  let held = 0;
  let needed = frameHeaderBytes;
  return (piece) => {
    pieces.push(piece);
    held += piece.length;
    const messages: Buffer[] = [];
    if (held < needed) return messages;
    const bytes = pieces.length === 1 ? piece : Buffer.concat(pieces);
    let at = 0;
    for (;;) {
      const isHeaderThere = bytes.length - at >= frameHeaderBytes;
      needed = frameHeaderBytes + (isHeaderThere ? bytes.readUInt32BE(at + 1) : 0);
      if (bytes.length - at < needed || !isHeaderThere) break;
      messages.push(bytes.subarray(at + frameHeaderBytes, at + needed));
      at += needed;
    }
    pieces = at === bytes.length ? [] : [bytes.subarray(at)];
    held = bytes.length - at;
    return messages;
  };
}
