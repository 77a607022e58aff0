// Calls into this server from the same process, as a transport of the client, without a socket. Unlike a socket, a chain of calls
// would not yield to the event loop: they do it explicitly.
import { yieldWhenDue } from '../host/yield-when-due.ts';
import type { ApiRequest, ApiResponse, Peer, Sink } from './message.ts';
import { isStream, isTunnel } from './message.ts';

export type LocalRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal;
};

export type LocalResponse = {
  readonly status: number;
  readonly headers: ApiResponse['headers'];
  readonly body: AsyncIterable<Uint8Array>;
};

export type LocalIdentity = { readonly user: string; readonly groups: readonly string[] };

export function createLocalCall(
  handle: (request: ApiRequest) => Promise<ApiResponse>,
  identity: LocalIdentity,
): (request: LocalRequest) => Promise<LocalResponse> {
  // The same object for all calls: the server caches its user.
  const peer: Peer = { local: identity };
  return async (request) => {
    await yieldWhenDue();
    const [path = '/', query = ''] = request.path.split(/\?(.*)/s);
    const { signal } = request;
    const body =
      typeof request.body === 'string'
        ? Buffer.from(request.body)
        : (request.body ?? new Uint8Array());
    const {
      status,
      headers,
      body: answer,
    } = await handle({
      method: request.method,
      path,
      query: new URLSearchParams(query),
      rawQuery: query,
      headers: request.headers ?? {},
      body: () => Promise.resolve(body),
      peer,
      signal: () => signal ?? new AbortController().signal,
    });
    if (isStream(answer)) return { status, headers, body: streamed(answer.start, signal) };
    // Only a request of a connection that can be upgraded gets one.
    if (isTunnel(answer)) throw new Error('Cannot upgrade a local call');
    const bytes = typeof answer === 'string' ? Buffer.from(answer) : answer;
    return { status, headers, body: once(bytes) };
  };
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

/** Chunks written by the server are queued until the reader takes them. */
async function* streamed(
  start: (sink: Sink) => void,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  const queue: Uint8Array[] = [];
  const closeListeners: (() => void)[] = [];
  const drainListeners: (() => void)[] = [];
  let size = 0;
  let ended = false;
  let wake = (): void => {};
  const close = (): void => {
    if (ended) return;
    ended = true;
    wake();
    for (const listener of closeListeners) listener();
  };
  signal?.addEventListener('abort', close, { once: true });
  start({
    write(chunk) {
      if (ended) return;
      queue.push(chunk);
      size += chunk.length;
      wake();
    },
    buffered: () => size,
    abort: close,
    onDrain: (listener) => drainListeners.push(listener),
    end: close,
    onClose: (listener) => {
      if (ended) listener();
      else closeListeners.push(listener);
    },
  });
  if (signal?.aborted) close();
  try {
    for (;;) {
      for (let chunk = queue.shift(); chunk !== undefined; chunk = queue.shift()) {
        size -= chunk.length;
        yield chunk;
        await yieldWhenDue();
      }
      for (const listener of drainListeners.splice(0)) listener();
      if (queue.length > 0) continue;
      if (ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    signal?.removeEventListener('abort', close);
    close();
  }
}
