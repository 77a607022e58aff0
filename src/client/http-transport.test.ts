import assert from 'node:assert/strict';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createHttpTransport } from './http-transport.ts';

async function withServer(
  listener: RequestListener,
  act: (url: string) => Promise<void>,
): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await act(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const connection = (server: string) => ({
  server,
  namespace: 'default',
  skipTlsVerification: false,
});

test('send() passes method, path, headers and body, and streams the response', async () => {
  await withServer(
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, url, headers } = request;
        const { authorization, accept } = headers;
        response.writeHead(201, { warning: '299 - "w"' });
        response.end(
          JSON.stringify({
            method,
            url,
            authorization,
            accept,
            body: Buffer.concat(chunks).toString(),
          }),
        );
      });
    },
    async (server) => {
      const transport = createHttpTransport({ ...connection(`${server}/prefix`), token: 't' });
      const { status, headers, body } = await transport.send({
        method: 'POST',
        path: '/api?x=y',
        headers: { accept: 'a' },
        body: 'ü',
      });
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      assert.equal(status, 201);
      assert.equal(headers.warning, '299 - "w"');
      assert.deepEqual(JSON.parse(Buffer.concat(chunks).toString()), {
        method: 'POST',
        url: '/prefix/api?x=y',
        authorization: 'Bearer t',
        accept: 'a',
        body: 'ü',
      });
      await transport.close();
    },
  );
});

test('send() aborts a stream with its signal', async () => {
  await withServer(
    (_request, response) => {
      response.writeHead(200);
      response.write('first');
    },
    async (server) => {
      const transport = createHttpTransport(connection(server));
      const stop = new AbortController();
      const { body } = await transport.send({ method: 'GET', path: '/', signal: stop.signal });
      await assert.rejects(async () => {
        for await (const chunk of body) {
          assert.equal(Buffer.from(chunk).toString(), 'first');
          stop.abort();
        }
      });
      await transport.close();
    },
  );
});

test('send() fails when the connection is refused', async () => {
  const transport = createHttpTransport(connection('http://127.0.0.1:1'));
  await assert.rejects(transport.send({ method: 'GET', path: '/' }), { code: 'ECONNREFUSED' });
  await transport.close();
});

const limits = { readIdleMs: 20, pingTimeoutMs: 2000 };
const watch = { method: 'GET', path: '/api/v1/pods?watch=true' };

test('an idle watch stays open while the server answers liveness checks with any status', async () => {
  let questions = 0;
  await withServer(
    (request, response) => {
      if (request.url === '/livez') {
        questions += 1;
        response.writeHead(403).end();
        // An event after several idle periods.
        if (questions === 3) quiet?.end('event');
        return;
      }
      quiet = response;
      response.writeHead(200).flushHeaders();
    },
    async (server) => {
      const transport = createHttpTransport(connection(server), limits);
      const { body } = await transport.send(watch);
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      assert.equal(Buffer.concat(chunks).toString(), 'event');
      assert.equal(questions, 3);
      await transport.close();
    },
  );
});
let quiet: ServerResponse | undefined;

test('a watch fails when its server stops answering', async () => {
  await withServer(
    (request, response) => {
      // A hanging process: its kernel accepts connections, but nothing answers.
      if (request.url !== '/livez') response.writeHead(200).flushHeaders();
    },
    async (server) => {
      const transport = createHttpTransport(connection(server), { ...limits, pingTimeoutMs: 50 });
      const { body } = await transport.send(watch);
      await assert.rejects(async () => {
        for await (const _chunk of body);
      });
      await transport.close();
    },
  );
});
