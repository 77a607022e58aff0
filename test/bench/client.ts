// Clients of the load: one connection each, one request under way at a time, and as little work as possible,
// because they share the machine with what is measured.
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { Protocol, Target } from './target.ts';

export type Request = {
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly body?: string;
};

export type Answer = { readonly status: number; readonly bytes: number };

export type Client = {
  readonly send: (request: Request) => Promise<Answer>;
  readonly close: () => void;
};

export function openClient(target: Target, protocol: Protocol): Promise<Client> {
  return protocol === 'h2' ? openHttp2(target) : openHttp1(target);
}

/** Every connection is to this machine. */
export const host = '127.0.0.1';

export function tlsOptions({ port, ca, cert, key }: Target, protocol: Protocol) {
  return { host, port, ca, cert, key, ALPNProtocols: [protocol], servername: 'localhost' };
}

export function openTls(target: Target, protocol: Protocol): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls(tlsOptions(target, protocol), () => {
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
    socket.setNoDelay(true);
  });
}

const userAgent = 'bench/1.0';

/** By hand: Node's own client costs more than the server does. */
async function openHttp1(target: Target): Promise<Client> {
  const socket = await openTls(target, 'http/1.1');
  let pending: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
  let answer: Answer | undefined;
  let missing = 0;
  const fail = (error: Error): void => {
    pending?.reject(error);
    pending = undefined;
  };
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the server closed the connection')));
  socket.on('data', (chunk: Buffer) => {
    if (answer === undefined) {
      const head = readHead(chunk);
      answer = { status: head.status, bytes: head.bodyLength };
      missing = head.bodyLength - (chunk.length - head.headLength);
    } else missing -= chunk.length;
    if (missing > 0) return;
    const done = answer;
    answer = undefined;
    const waiting = pending;
    pending = undefined;
    waiting?.resolve(done);
  });
  return {
    send: (request) =>
      new Promise((resolve, reject) => {
        pending = { resolve, reject };
        socket.write(head1(request));
      }),
    close: () => socket.destroy(),
  };
}

function head1({ method, path, contentType, body = '' }: Request): string {
  const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`;
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: ${userAgent}\r\nAccept: application/json\r\n${type}${length}\r\n${body}`;
}

/** Both servers write the whole head in one piece. */
function readHead(chunk: Buffer): { status: number; headLength: number; bodyLength: number } {
  const end = chunk.indexOf('\r\n\r\n');
  if (end < 0) throw new Error('Cannot read the answer: its head came in pieces');
  const head = chunk.toString('latin1', 0, end).toLowerCase();
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
  if (length === undefined) throw new Error(`Cannot read the answer: no length in "${head}"`);
  return { status: Number(head.slice(9, 12)), headLength: end + 4, bodyLength: Number(length) };
}

async function openHttp2(target: Target): Promise<Client> {
  const session = connectHttp2(`https://localhost:${target.port}`, {
    createConnection: () => connectTls(tlsOptions(target, 'h2')),
  });
  await new Promise<void>((resolve, reject) => {
    session.once('connect', () => resolve());
    session.once('error', reject);
  });
  return {
    send: ({ method, path, contentType, body = '' }) =>
      new Promise((resolve, reject) => {
        const stream = session.request({
          ':method': method,
          ':path': path,
          accept: 'application/json',
          'user-agent': userAgent,
          ...(contentType === undefined ? {} : { 'content-type': contentType }),
        });
        let status = 0;
        let bytes = 0;
        stream.on('response', (headers) => {
          status = Number(headers[':status']);
        });
        stream.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
        });
        stream.on('end', () => resolve({ status, bytes }));
        stream.on('error', reject);
        if (body !== '') stream.end(body);
      }),
    close: () => session.destroy(),
  };
}
