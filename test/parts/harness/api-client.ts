// A client for tests: answers with their status instead of exceptions, and watches that can be waited on.
import assert from 'node:assert/strict';
import { type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2';
import { endLater } from '../../../src/host/end-later.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import type { KubeObject } from '../../../src/meta/object.ts';

export type Answer<T> = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: T;
};

export type ObjectList<T = KubeObject> = {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly T[];
};

export type WatchEvent<T = KubeObject> = { readonly type: string; readonly object: T };

export type ApiClient = {
  readonly send: <T = Status>(call: ApiCall) => Promise<Answer<T>>;
  /** The body of a good answer; fails the test on any other. */
  readonly get: <T = KubeObject>(path: string) => Promise<T>;
  readonly post: <T = KubeObject>(path: string, body: unknown) => Promise<T>;
  readonly put: <T = KubeObject>(path: string, body: unknown) => Promise<T>;
  /** A merge patch. */
  readonly patch: <T = KubeObject>(path: string, body: unknown) => Promise<T>;
  readonly delete: <T = KubeObject>(path: string, body?: unknown) => Promise<T>;
  readonly watch: <T = KubeObject>(path: string, headers?: ApiCall['headers']) => Promise<Watch<T>>;
  /** Resolves when the server says that it is there. */
  readonly ping: () => Promise<void>;
  readonly close: () => void;
};

export type ApiCall = {
  readonly method: string;
  readonly path: string;
  /** Sent as JSON, text as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
};

export type Watch<T = KubeObject> = {
  /** All that came so far. */
  readonly events: readonly WatchEvent<T>[];
  /** Resolves once the condition holds for what came; rejects when the watch ends before. */
  readonly until: (holds: (events: readonly WatchEvent<T>[]) => boolean) => Promise<void>;
  /** Stops reading, as a client that is busy. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Resolves when the server has ended the watch. */
  readonly ended: Promise<void>;
  readonly close: () => void;
};

export type Endpoint = {
  /** Absent: this machine. */
  readonly host?: string;
  readonly port: number;
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
};

export async function openApiClient(endpoint: Endpoint): Promise<ApiClient> {
  const { host = 'localhost', port, ...tls } = endpoint;
  const session = connect(`https://${host}:${port}`, { ...tls, maxSessionMemory: 1024 });
  // Requests under way tell of the error themselves.
  session.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    session.once('connect', () => resolve());
    session.once('error', reject);
    // A connection may close without an error, and the promise would never settle.
    session.once('close', () => reject(new Error('the connection was closed before it stood')));
  });

  function open({ method, path, body, headers = {} }: ApiCall): ClientHttp2Stream {
    const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const head = { ':method': method, ':path': path, ...type, ...headers };
    const stream = session.request(head, { endStream: text === '' });
    return text === '' ? stream : stream.end(text);
  }

  async function send<T>(call: ApiCall): Promise<Answer<T>> {
    const stream = open(call);
    const head = await response(stream);
    const chunks: Buffer[] = [];
    for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const isJson = String(head['content-type']).startsWith('application/json');
    return { ...answerOf(head), body: (isJson && text !== '' ? JSON.parse(text) : text) as T };
  }

  async function good<T>(call: ApiCall): Promise<T> {
    const { status, body } = await send<T>(call);
    assert.ok(status < 300, `${call.method} ${call.path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  return {
    send,
    get: (path) => good({ method: 'GET', path }),
    post: (path, body) => good({ method: 'POST', path, body }),
    put: (path, body) => good({ method: 'PUT', path, body }),
    patch: (path, body) =>
      good({ method: 'PATCH', path, body, headers: { 'content-type': mergePatch } }),
    delete: (path, body) => good({ method: 'DELETE', path, body }),
    async watch(path, headers = {}) {
      const stream = open({ method: 'GET', path, headers });
      const { status } = answerOf(await response(stream));
      assert.equal(status, 200, `GET ${path}`);
      return readWatch(stream);
    },
    ping: () =>
      new Promise((resolve, reject) => {
        session.ping((error) => (error === null ? resolve() : reject(error)));
      }),
    close: () => endLater(session),
  };
}

const mergePatch = 'application/merge-patch+json';

const answerOf = (headers: IncomingHttpHeaders) => ({
  status: Number((headers as { ':status'?: number })[':status']),
  headers,
});

function response(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders> {
  return new Promise((resolve, reject) => {
    stream.once('response', resolve);
    stream.once('error', reject);
    stream.once('close', () => reject(new Error('the stream was closed without an answer')));
  });
}

function readWatch<T>(stream: ClientHttp2Stream): Watch<T> {
  const events: WatchEvent<T>[] = [];
  const waiting = new Set<() => void>();
  let isEnded = false;
  const wake = (): void => {
    for (const poll of waiting) poll();
  };
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) events.push(JSON.parse(line) as WatchEvent<T>);
    wake();
  });
  const ended = new Promise<void>((resolve) => {
    stream.once('close', () => {
      isEnded = true;
      wake();
      resolve();
    });
  });
  stream.on('error', () => {});
  const until = (holds: (events: readonly WatchEvent<T>[]) => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const poll = (): void => {
        if (holds(events)) resolve();
        else if (isEnded) reject(new Error(`the watch ended after ${JSON.stringify(events)}`));
        else return;
        waiting.delete(poll);
      };
      waiting.add(poll);
      poll();
    });
  const pause = (): void => void stream.pause();
  const resume = (): void => void stream.resume();
  return {
    events,
    until,
    pause,
    resume,
    ended,
    close: () => void setImmediate(() => stream.close()),
  };
}
