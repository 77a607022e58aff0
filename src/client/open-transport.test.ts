import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type OpenOptions, openTransport } from './open-transport.ts';
import type { TransportResponse } from './transport.ts';

type Running = { readonly url: string; readonly server: Server; readonly asked: string[] };

/** `answer` is asked for everything but whether the server is ready. */
async function start(
  t: TestContext,
  name: string,
  { answer, isReady = () => true }: { answer?: RequestListener; isReady?: () => boolean } = {},
): Promise<Running> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/readyz') {
      response.writeHead(isReady() ? 200 : 503).end();
      return;
    }
    asked.push(`${request.method} ${request.url}`);
    if (answer === undefined) response.end(name);
    else answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, asked };
}

function open(t: TestContext, servers: readonly Running[], options: OpenOptions = {}) {
  const [server = '', ...otherServers] = servers.map(({ url }) => url);
  const transport = openTransport(
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

test('the first server is asked as long as it answers', async (t) => {
  const [one, two] = [await start(t, 'one'), await start(t, 'two')];
  const transport = open(t, [one, two]);
  for (let n = 0; n < 3; n += 1) assert.equal(await textOf(await transport.send(get)), 'one');
  assert.deepEqual(two.asked, []);
});

for (const request of [get, post]) {
  test(`${request.method}: a server that refuses connections is left for the next, and for good`, async (t) => {
    const [one, two] = [await start(t, 'one'), await start(t, 'two')];
    const transport = open(t, [one, two]);
    await new Promise((resolve) => one.server.close(resolve));
    assert.equal(await textOf(await transport.send(request)), 'two');
    assert.equal(await textOf(await transport.send(request)), 'two');
  });
}

test('a read whose connection breaks is asked of the next; a write is not, as it may have happened', async (t) => {
  const hangUp: RequestListener = (request) => void request.socket.destroy();
  const [one, two] = [await start(t, 'one', { answer: hangUp }), await start(t, 'two')];
  assert.equal(await textOf(await open(t, [one, two]).send(get)), 'two');
  const writer = open(t, [one, two]);
  await assert.rejects(writer.send(post), /socket hang up/);
  assert.deepEqual(two.asked, ['GET /x']);
  assert.equal(await textOf(await writer.send(post)), 'two', 'the next one goes elsewhere');
});

test('when none answers, the failure is told', async (t) => {
  const [one, two] = [await start(t, 'one'), await start(t, 'two')];
  for (const { server } of [one, two]) await new Promise((resolve) => server.close(resolve));
  await assert.rejects(open(t, [one, two]).send(get), /ECONNREFUSED/);
});

test('what is under way with a server that is no longer ready ends, and goes on with one that is', async (t) => {
  let isReady = true;
  const watch: RequestListener = (_, response) => void response.write('event');
  const one = await start(t, 'one', { answer: watch, isReady: () => isReady });
  const two = await start(t, 'two');
  const transport = open(t, [one, two], { lookEveryMs: 20 });
  const watched = await transport.send(get);
  const ended = assert.rejects(textOf(watched));
  isReady = false;
  await ended;
  assert.equal(await textOf(await transport.send(get)), 'two');
});

test('a server that is not ready is kept while no other is', async (t) => {
  let looks = 0;
  let seen = (): void => {};
  const bothLooked = new Promise<void>((resolve) => {
    seen = resolve;
  });
  const isReady = (): boolean => {
    looks += 1;
    if (looks >= 4) seen();
    return false;
  };
  const [one, two] = [await start(t, 'one', { isReady }), await start(t, 'two', { isReady })];
  const transport = open(t, [one, two], { lookEveryMs: 10 });
  await bothLooked;
  assert.equal(await textOf(await transport.send(get)), 'one');
});
