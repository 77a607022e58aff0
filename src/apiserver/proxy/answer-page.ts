// HTML pages are read as a whole, because their links are rewritten; one that is too large is forwarded as it is.
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { serviceUnavailable } from '../../meta/api-error.ts';
import type { ApiResponse } from '../message.ts';
import { type ProxyLocation, rewriteHtml } from './rewrite-links.ts';

/** A hundred times a usual page. */
const maxPageBytes = 4 * 1024 * 1024;

const decoders: Readonly<Record<string, (bytes: Buffer) => Promise<Buffer>>> = {
  '': (bytes) => Promise.resolve(bytes),
  gzip: (bytes) => promisify(gunzip)(bytes, { maxOutputLength: maxPageBytes }),
  deflate: (bytes) => promisify(inflate)(bytes, { maxOutputLength: maxPageBytes }),
};

const encodingOf = ({ headers }: IncomingMessage): string => headers['content-encoding'] ?? '';

/** HTML in an encoding that can be read, and not known to be too large. */
export function isPage(message: IncomingMessage): boolean {
  const { 'content-type': type = '', 'content-length': length = '0' } = message.headers;
  const isHtml = type.split(';')[0]?.trim().toLowerCase() === 'text/html';
  return isHtml && Object.hasOwn(decoders, encodingOf(message)) && Number(length) <= maxPageBytes;
}

export async function answerPage(
  message: IncomingMessage,
  { status, headers }: Pick<ApiResponse, 'status' | 'headers'>,
  location: ProxyLocation,
): Promise<ApiResponse> {
  const decode = decoders[encodingOf(message)];
  const page = await decode?.(await readAll(message)).catch((error: unknown) => {
    throw serviceUnavailable(`error trying to reach service: ${String(error)}`);
  });
  // Latin 1 keeps every byte, whatever the encoding of the page.
  const body = Buffer.from(rewriteHtml(page?.toString('latin1') ?? '', location), 'latin1');
  const { 'content-length': _length, 'content-encoding': _encoding, ...otherHeaders } = headers;
  return { status, headers: otherHeaders, body };
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxPageBytes) throw new Error(`the page is larger than ${maxPageBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw serviceUnavailable(`error trying to reach service: ${String(error)}`);
  }
  return Buffer.concat(chunks);
}
