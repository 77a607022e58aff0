// The bare server that results are compared with: the same TLS, the same protocols and as many bytes, but nothing
// is decided. A read gets its bytes; a write is appended to a file and synced, together with those that wait.
import { open } from 'node:fs/promises';
import { createSecureServer, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { CeilingOptions } from './ceiling.ts';

process.once('message', (options: CeilingOptions) => void serve(options));
process.once('disconnect', () => process.exit());

async function serve({ target, bytes, file }: CeilingOptions): Promise<void> {
  const body = jsonOf(bytes);
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const append = await appender(file);
  const watchers = new Set<Http2ServerResponse>();
  const server = createSecureServer({
    key: target.serverKey,
    cert: target.serverCert,
    ca: target.ca,
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false,
  });
  const answer = (response: Http2ServerResponse): void => {
    response.writeHead(200, headers);
    response.end(body);
  };
  server.on('request', (request, response) => {
    if (request.url.includes('watch=')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      (response as unknown as { flushHeaders?: () => void }).flushHeaders?.();
      watchers.add(response);
      response.on('close', () => watchers.delete(response));
      return;
    }
    if (request.method === 'GET') return answer(response);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void append(Buffer.concat(chunks)).then(() => {
        answer(response);
        for (const watcher of watchers) watcher.write(body);
      });
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

function jsonOf(bytes: number): Buffer {
  return Buffer.from(`${JSON.stringify({ filler: 'x'.repeat(Math.max(0, bytes - 14)) })}\n`);
}

async function appender(file: string): Promise<(bytes: Buffer) => Promise<void>> {
  const handle = await open(file, 'a');
  let waiting: { readonly bytes: Buffer; readonly resolve: () => void }[] = [];
  let running = false;
  async function work(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      const batch = waiting;
      waiting = [];
      await handle.write(Buffer.concat(batch.map((each) => each.bytes)));
      await handle.datasync();
      for (const { resolve } of batch) resolve();
    }
    running = false;
  }
  return (bytes) =>
    new Promise((resolve) => {
      waiting.push({ bytes, resolve });
      if (!running) void work();
    });
}
