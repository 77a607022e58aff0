// A client with connections of its own and nothing clever: one request, one answer.
import { Agent, request as httpsRequest } from 'node:https';
import { host } from '../bench/client.ts';
import type { Target } from '../bench/target.ts';

export type HttpsRequest = {
  readonly method: string;
  readonly path: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

export type HttpsAnswer = { readonly status: number; readonly text: string };

export type HttpsClient = {
  readonly send: (request: HttpsRequest) => Promise<HttpsAnswer>;
  /** Calls `line` for each line of an answer that goes on; resolves when the head has come. */
  readonly follow: (path: string, line: (text: string) => void) => Promise<void>;
  readonly close: () => void;
};

export function createHttpsClient({ port, ca, cert, key }: Target): HttpsClient {
  const agent = new Agent({ keepAlive: true, ca, cert, key, servername: 'localhost' });
  const open = ({ method, path, headers = {}, signal }: HttpsRequest) =>
    httpsRequest({ host, port, agent, method, path, headers, ...(signal ? { signal } : {}) });
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        const sent = open({ ...request, headers: { ...bodyHeaders(request), ...request.headers } });
        sent.on('error', reject);
        sent.on('response', (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text: String(Buffer.concat(chunks)) }),
          );
        });
        sent.end(request.body);
      }),
    follow: (path, line) =>
      new Promise((resolve, reject) => {
        const sent = open({ method: 'GET', path });
        sent.on('error', reject);
        sent.on('response', (response) => {
          let rest = '';
          response.on('data', (chunk: Buffer) => {
            const lines = (rest + String(chunk)).split('\n');
            rest = lines.pop() ?? '';
            for (const text of lines) line(text);
          });
          response.on('error', () => line(''));
          response.on('end', () => line(''));
          resolve();
        });
        sent.end();
      }),
    close: () => agent.destroy(),
  };
}

/** Node says no length of its own for a DELETE, whose body the server then takes for the next request. */
function bodyHeaders({ body }: HttpsRequest): Readonly<Record<string, string>> {
  if (body === undefined) return {};
  return {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  };
}
