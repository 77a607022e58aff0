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
  readonly send: (prepared: Prepared) => Promise<Answer>;
  readonly close: () => void;
};

/** A request with what is sent for it, made beforehand: a load is not to spend its time on it. */
export type Prepared = { readonly request: Request; readonly bytes: Buffer };

export function prepare(request: Request, protocol: Protocol): Prepared {
  const text = protocol === 'h2' ? (request.body ?? '') : http1Text(request);
  return { request, bytes: Buffer.from(text) };
}

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

/** Larger answers come in several pieces. */
const pieceBytes = 64 * 1024;

/** By hand, and without a stream on the way in: Node's own client costs more than the server does. */
function openHttp1(target: Target): Promise<Client> {
  let pending: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
  let answer: Answer | undefined;
  let missing = 0;
  const fail = (error: Error): void => {
    pending?.reject(error);
    pending = undefined;
  };
  const take = (length: number, piece: Buffer): boolean => {
    if (answer === undefined) {
      const head = readHead(piece.subarray(0, length));
      answer = { status: head.status, bytes: head.bodyLength };
      missing = head.bodyLength - (length - head.headLength);
    } else missing -= length;
    if (missing > 0) return true;
    const [waiting, done] = [pending, answer];
    [pending, answer] = [undefined, undefined];
    waiting?.resolve(done);
    return true;
  };
  const onread = { buffer: Buffer.alloc(pieceBytes), callback: take };
  return new Promise((resolve, reject) => {
    const options = { ...tlsOptions(target, 'http/1.1'), onread };
    const socket = connectTls(options, () => {
      socket.off('error', reject);
      socket.on('error', fail);
      socket.on('close', () => fail(new Error('the server closed the connection')));
      resolve({
        send: ({ bytes }) =>
          new Promise((answered, failed) => {
            pending = { resolve: answered, reject: failed };
            socket.write(bytes);
          }),
        close: () => socket.destroy(),
      });
    });
    socket.once('error', reject);
    socket.setNoDelay(true);
  });
}

function http1Text({ method, path, contentType, body = '' }: Request): string {
  const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`;
  const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: ${userAgent}\r\nAccept: application/json\r\n${type}${length}\r\n${body}`;
}

/** Both servers write the whole head in one piece, with header names in lower case. */
const lengthHeader = '\r\ncontent-length: ';

function readHead(piece: Buffer): { status: number; headLength: number; bodyLength: number } {
  const headLength = piece.indexOf('\r\n\r\n') + 4;
  if (headLength < 4) throw new Error('Cannot read the answer: its head came in pieces');
  const head = piece.toString('latin1', 0, headLength);
  const at = head.indexOf(lengthHeader);
  if (at < 0) throw new Error(`Cannot read the answer: no length in "${head}"`);
  return {
    status: Number(head.slice(9, 12)),
    headLength,
    bodyLength: Number.parseInt(head.slice(at + lengthHeader.length, headLength), 10),
  };
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
    send: ({ request: { method, path, contentType }, bytes: body }) =>
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
        if (body.length > 0) stream.end(body);
      }),
    close: () => session.destroy(),
  };
}
