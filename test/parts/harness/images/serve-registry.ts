// A registry in this process whose answers tests can change: for what a real registry does not do, and for machines without one.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type BuiltImage, blobsOf, digestOf, indexOf } from './build-image.ts';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export type ServedRegistry = {
  readonly host: string;
  /** `METHOD PATH` of all requests, in order. */
  readonly requests: string[];
  /** As `team/app:tag`; several images become one manifest list. */
  readonly add: (name: string, ...images: readonly BuiltImage[]) => void;
  /** Sees requests first; returns true if it has answered or will. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean;
  readonly stop: () => Promise<void>;
};

type Stored = { readonly mediaType: string; readonly content: Buffer };

/** PEM. */
export type ServerTls = { readonly key: string; readonly cert: string };

export async function serveRegistry(tls?: ServerTls): Promise<ServedRegistry> {
  const manifests = new Map<string, Stored>();
  const blobs = new Map<string, Buffer>();
  const receive: Answer = (request, response) => {
    served.requests.push(`${request.method} ${request.url}`);
    if (!served.intercept(request, response)) answer(request, response);
  };
  const server = tls === undefined ? createServer(receive) : createTlsServer(tls, receive);
  const answer: Answer = (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://registry');
    if (pathname === '/v2/') return void response.end('{}');
    const blob = /^\/v2\/.+\/blobs\/(.+)$/.exec(pathname)?.[1];
    if (blob !== undefined) return sendBlob(blobs.get(blob), request, response);
    const stored = manifests.get(pathname);
    if (stored === undefined) return notFound(response);
    response.setHeader('content-type', stored.mediaType);
    response.setHeader('docker-content-digest', digestOf(stored.content));
    response.end(request.method === 'HEAD' ? undefined : stored.content);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const served: ServedRegistry = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    add: (name, ...images) => {
      const colon = name.lastIndexOf(':');
      const path = (reference: string): string =>
        `/v2/${name.slice(0, colon)}/manifests/${reference}`;
      const list = images.length > 1 ? [indexOf(images)] : [];
      const [top] = [...list, ...images.map(({ manifest }) => manifest)];
      for (const stored of [...list, ...images.map(({ manifest }) => manifest)])
        manifests.set(path(stored.digest), stored);
      if (top !== undefined) manifests.set(path(name.slice(colon + 1)), top);
      for (const { digest, content } of images.flatMap(blobsOf)) blobs.set(digest, content);
    },
    intercept: () => false,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return served;
}

function sendBlob(
  content: Buffer | undefined,
  { headers: { range } }: IncomingMessage,
  response: ServerResponse,
): void {
  if (content === undefined) {
    notFound(response);
    return;
  }
  const start = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
  if (start > 0) {
    response.statusCode = 206;
    response.setHeader('content-range', `bytes ${start}-${content.length - 1}/${content.length}`);
  }
  response.setHeader('content-length', content.length - start);
  response.end(content.subarray(start));
}

function notFound(response: ServerResponse): void {
  response.statusCode = 404;
  response.setHeader('content-type', 'application/json');
  response.end('{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}');
}
