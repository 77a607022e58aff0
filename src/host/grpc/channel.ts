// A gRPC client over Node's HTTP/2: one connection to one server, unary calls and bidirectional streams. It is small, and takes a
// third of the processor time of the general library.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type SecureClientSessionOptions,
} from 'node:http2';
import { endLater } from '../end-later.ts';
import { createFrameReader, FrameTooLarge, toFrame } from './frames.ts';
import { type KeepAlive, startKeepAlive } from './keep-alive.ts';

export const grpcStatus = {
  deadlineExceeded: 4,
  resourceExhausted: 8,
  outOfRange: 11,
  unavailable: 14,
} as const;

/** `status` is gRPC's number. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly status: number;
  /** Whether the server answered with it; otherwise the connection failed, or the time was over. */
  readonly isFromServer: boolean;
  constructor(
    status: number,
    message: string,
    { isFromServer = false, ...options }: ErrorOrigin = {},
  ) {
    super(message, options);
    this.status = status;
    this.isFromServer = isFromServer;
  }
}

type ErrorOrigin = ErrorOptions & { readonly isFromServer?: boolean };

export type GrpcStream = {
  readonly send: (message: Uint8Array) => void;
  /** Throws GrpcError when the stream ends, unless `close` ended it. */
  readonly responses: AsyncIterable<Uint8Array>;
  readonly close: () => void;
};

export type GrpcChannel = {
  /** Resolves when calls can be made; rejects with a GrpcError where the server does not accept the connection. */
  readonly ready: Promise<void>;
  readonly call: (path: string, message: Uint8Array, timeoutMs?: number) => Promise<Uint8Array>;
  readonly stream: (path: string) => GrpcStream;
  /** Whether new calls can be made on it. */
  readonly isUsable: () => boolean;
  readonly close: () => void;
};

export type GrpcChannelOptions = Pick<
  SecureClientSessionOptions,
  'ca' | 'cert' | 'key' | 'createConnection'
> & {
  /** Metadata of every call. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Absent: 3 seconds. */
  readonly connectTimeoutMs?: number;
  /** Of a response; absent: 4 MiB, the default of gRPC libraries. */
  readonly maxMessageBytes?: number;
};

const defaultConnectTimeoutMs = 3000;
const defaultMaxMessageBytes = 4 << 20;
/** Wide enough that large responses do not stop for window updates. */
const windowBytes = 8 << 20;

export function openChannel(endpoint: string, options: GrpcChannelOptions = {}): GrpcChannel {
  const { metadata = {}, connectTimeoutMs = defaultConnectTimeoutMs, ...rest } = options;
  const { maxMessageBytes = defaultMaxMessageBytes, ...connection } = rest;
  const session = connect(endpoint, {
    ...connection,
    settings: { initialWindowSize: windowBytes },
  });
  let failure: Error | undefined;
  let isClosing = false;
  const close = (error?: Error): void => {
    isClosing = true;
    failure ??= error;
    endLater(session, error);
  };
  const isClosed = (): boolean => isClosing || session.destroyed;
  session.on('error', (error) => {
    failure = error;
  });
  session.on('connect', () => {
    // Closed a moment ago, the session may still emit this.
    if (!session.destroyed) session.setLocalWindowSize(windowBytes * 2);
  });
  const connectionError = (): GrpcError =>
    new GrpcError(grpcStatus.unavailable, failure?.message ?? 'the connection was closed', {
      cause: failure,
    });
  const ready = untilConnected(session, connectTimeoutMs, connectionError);
  ready.catch(() => close());
  const connected: Connection = {
    ...{ session, metadata, maxMessageBytes, connectionError },
    keepAlive: startKeepAlive(session, close),
  };
  return {
    ready,
    call: (path, message, timeoutMs) =>
      isClosed()
        ? Promise.reject(connectionError())
        : call(connected, { path, message, timeoutMs }),
    stream(path) {
      if (isClosed()) throw connectionError();
      return stream(connected, path);
    },
    isUsable: () => !isClosed() && !session.closed,
    close: () => close(),
  };
}

function untilConnected(
  session: ClientHttp2Session,
  timeoutMs: number,
  connectionError: () => GrpcError,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(connectionError());
    const timer = Number.isFinite(timeoutMs) ? setTimeout(fail, timeoutMs).unref() : undefined;
    session.once('connect', () => {
      clearTimeout(timer);
      resolve();
    });
    session.once('close', fail);
  });
}

type Connection = {
  readonly session: ClientHttp2Session;
  readonly keepAlive: KeepAlive;
  readonly metadata: Readonly<Record<string, string>>;
  readonly maxMessageBytes: number;
  readonly connectionError: () => GrpcError;
};

function openStream({ session, metadata }: Connection, path: string): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...metadata,
  });
  // Its 'close' event, which follows, reports the failure.
  return stream.on('error', () => {});
}

type Call = {
  readonly path: string;
  readonly message: Uint8Array;
  readonly timeoutMs: number | undefined;
};

function call(connection: Connection, { path, message, timeoutMs }: Call): Promise<Uint8Array> {
  const { keepAlive, maxMessageBytes, connectionError } = connection;
  return new Promise((resolve, reject) => {
    const request = openStream(connection, path);
    keepAlive.callStarted();
    const read = createFrameReader(maxMessageBytes);
    let response: Buffer | undefined;
    let failure: GrpcError | undefined;
    const cancel = (error: GrpcError): void => {
      failure ??= error;
      request.close(constants.NGHTTP2_CANCEL);
    };
    const expire = (): void =>
      cancel(new GrpcError(grpcStatus.deadlineExceeded, `no answer within ${timeoutMs} ms`));
    const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs);
    request.on('response', (headers) => {
      keepAlive.received();
      failure = errorIn(headers) ?? failure;
    });
    request.on('trailers', (trailers) => {
      failure = errorIn(trailers) ?? failure;
    });
    request.on('data', (chunk: Buffer) => {
      if (failure !== undefined) return;
      try {
        response = read(chunk)[0] ?? response;
      } catch (error) {
        cancel(toGrpcError(error));
      }
    });
    request.on('close', () => {
      clearTimeout(timer);
      keepAlive.callEnded();
      if (failure === undefined && response !== undefined) resolve(response);
      else reject(failure ?? connectionError());
    });
    request.end(toFrame(message));
  });
}

function stream(connection: Connection, path: string): GrpcStream {
  const { keepAlive, maxMessageBytes, connectionError } = connection;
  const request = openStream(connection, path);
  let failure: GrpcError | undefined;
  let isClosed = false;
  const noteError = (headers: Headers): void => {
    failure = errorIn(headers) ?? failure;
  };
  request.on('response', noteError).on('trailers', noteError);
  async function* responses(): AsyncGenerator<Uint8Array> {
    const read = createFrameReader(maxMessageBytes);
    try {
      // A reader that stops early calls `close`.
      for await (const chunk of request.iterator({ destroyOnReturn: false })) {
        keepAlive.received();
        yield* read(chunk as Buffer);
      }
    } catch (error) {
      if (!isClosed) throw failure ?? toGrpcError(error);
    }
    if (!isClosed) throw failure ?? connectionError();
  }
  return {
    send: (message) => void request.write(toFrame(message)),
    responses: responses(),
    close() {
      isClosed = true;
      request.close(constants.NGHTTP2_CANCEL);
    },
  };
}

function toGrpcError(cause: unknown): GrpcError {
  const isTooLarge = cause instanceof FrameTooLarge;
  const status = isTooLarge ? grpcStatus.resourceExhausted : grpcStatus.unavailable;
  return new GrpcError(status, isTooLarge ? cause.message : String(cause), { cause });
}

type Headers = Readonly<Record<string, unknown>>;

function errorIn(headers: Headers): GrpcError | undefined {
  const status = headers['grpc-status'];
  const http = headers[':status'];
  if (http !== undefined && http !== 200) {
    return new GrpcError(grpcStatus.unavailable, `HTTP status ${String(http)}`);
  }
  if (status === undefined || status === '0') return undefined;
  const text = headers['grpc-message'];
  const message = typeof text === 'string' ? decodeURIComponent(text) : '';
  return new GrpcError(Number(status), message, { isFromServer: true });
}
