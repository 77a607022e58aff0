import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type OpenOptions, openFailoverTransport } from './open-failover-transport.ts';
import type { TransportResponse } from './transport.ts';

type Running = { readonly url: string; readonly server: Server; readonly requests: string[] };

/** `answer` handles all requests but readiness checks. */
async function start(
  t: TestContext,
  name: string,
  { answer, isReady = () => true }: { answer?: RequestListener; isReady?: () => boolean } = {},
): Promise<Running> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/readyz') {
      response.writeHead(isReady() ? 200 : 503).end();
      return;
    }
    requests.push(`${request.method} ${request.url}`);
    if (answer === undefined) response.end(name);
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, requests };
}

function open(t: TestContext, servers: readonly Running[], options: OpenOptions = {}) {
  const [server = '', ...otherServers] = servers.map(({ url }) => url);
  const transport = openFailoverTransport(
    { server, otherServers, namespace: 'default', skipTlsVerification: false },
    options,
  );
  t.after(() => transport.close());
  return transport;
}

async function textOf({ body }: TransportResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const get = { method: 'GET', path: '/x' };
const post = { method: 'POST', path: '/x', body: '{}' };

test('openTransport() uses the first server as long as it answers', async (t) => {
  const [one, two] = [await start(t, 'one'), await start(t, 'two')];
  const transport = open(t, [one, two]);
  for (let n = 0; n < 3; n += 1) assert.equal(await textOf(await transport.send(get)), 'one');
  assert.deepEqual(two.requests, []);
});

for (const request of [get, post]) {
  test(`${request.method}: openTransport() fails over for good from a server that refuses connections`, async (t) => {
    const [one, two] = [await start(t, 'one'), await start(t, 'two')];
    const transport = open(t, [one, two]);
    await new Promise((resolve) => one.server.close(resolve));
    assert.equal(await textOf(await transport.send(request)), 'two');
    assert.equal(await textOf(await transport.send(request)), 'two');
  });
}

test('openTransport() repeats a read on the next server when the connection breaks, but not a write, which may have been applied', async (t) => {
  const hangUp: RequestListener = (request) => void request.socket.destroy();
  const [one, two] = [await start(t, 'one', { answer: hangUp }), await start(t, 'two')];
  assert.equal(await textOf(await open(t, [one, two]).send(get)), 'two');
  const writer = open(t, [one, two]);
  await assert.rejects(writer.send(post), /socket hang up/);
  assert.deepEqual(two.requests, ['GET /x']);
  assert.equal(await textOf(await writer.send(post)), 'two', 'the next one goes elsewhere');
});

test('openTransport() throws the failure when no server answers', async (t) => {
  const [one, two] = [await start(t, 'one'), await start(t, 'two')];
  for (const { server } of [one, two]) await new Promise((resolve) => server.close(resolve));
  await assert.rejects(open(t, [one, two]).send(get), /ECONNREFUSED/);
});

test('openTransport() moves to a ready server, and lets requests in flight complete', async (t) => {
  let isReady = true;
  const watch: RequestListener = (_, response) => void response.write('event');
  const one = await start(t, 'one', { answer: watch, isReady: () => isReady });
  const two = await start(t, 'two');
  const transport = open(t, [one, two], { checkEveryMs: 20 });
  const watched = await transport.send(get);
  const ended = assert.rejects(textOf(watched));
  isReady = false;
  await ended;
  assert.equal(await textOf(await transport.send(get)), 'two');
});

test('openTransport() stays with a server that is not ready while no other is ready', async (t) => {
  let checks = 0;
  let seen = (): void => {};
  const bothChecked = new Promise<void>((resolve) => {
    seen = resolve;
  });
  const isReady = (): boolean => {
    checks += 1;
    if (checks >= 4) seen();
    return false;
  };
  const [one, two] = [await start(t, 'one', { isReady }), await start(t, 'two', { isReady })];
  const transport = open(t, [one, two], { checkEveryMs: 10 });
  await bothChecked;
  assert.equal(await textOf(await transport.send(get)), 'one');
});
