// Sends an input into the server: straight to its handler, or as bytes over a TLS connection.
import { connect } from 'node:tls';
import { type ApiRequest, type ApiResponse, isStream } from '../../src/apiserver/message.ts';
import { closed } from '../parts/harness/closed.ts';
import { type MemoryServer, testCredentials } from '../parts/harness/memory-server.ts';
import type { Input } from './input.ts';

const administrator = { user: 'fuzz', groups: ['system:masters'] };

/** The status of the answer, its body read; what goes on is ended. */
export async function sendInput({ server }: MemoryServer, input: Input): Promise<number> {
  const [path = '/', query = ''] = input.path.split(/\?(.*)/s);
  const disconnect = new AbortController();
  const request: ApiRequest = {
    method: input.method,
    path,
    query: new URLSearchParams(query),
    headers: input.headers,
    body: () => Promise.resolve(input.body),
    peer: input.trusted ? { local: administrator } : {},
    signal: () => disconnect.signal,
  };
  const response = await server.handle(request);
  readWhatIsThere(response);
  disconnect.abort();
  return response.status;
}

function readWhatIsThere({ body }: ApiResponse): void {
  if (!isStream(body)) return;
  const listeners: (() => void)[] = [];
  let isOpen = true;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    for (const listener of listeners) listener();
  };
  body.start({
    write: () => {},
    buffered: () => 0,
    end: close,
    onClose: (listener) => listeners.push(listener),
  });
  close();
}

/** The status that comes first over a connection of its own; 0 when the server just closes it. */
export async function sendBytes({ server }: MemoryServer, bytes: Uint8Array): Promise<number> {
  const { authority, administrator: client } = testCredentials();
  const socket = connect({
    host: '127.0.0.1',
    port: server.address.port,
    ca: authority.certificate,
    cert: client.certificate,
    key: client.privateKey,
    servername: 'localhost',
    ALPNProtocols: ['http/1.1'],
  });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    // A watch goes on; its status is enough.
    if (Buffer.concat(chunks).includes('\r\n\r\n')) socket.destroy();
  });
  const isOver = closed(socket);
  socket.end(bytes);
  await isOver;
  const [, status = '0'] =
    /^HTTP\/1\.1 (\d{3})/.exec(Buffer.concat(chunks).toString('latin1')) ?? [];
  return Number(status);
}

/** As a client that counts badly or stops early would put it on the wire. */
export function toWire({ method, path, headers, body }: Input, length = body.length): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}content-length: ${length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head, 'latin1'), body]);
}
