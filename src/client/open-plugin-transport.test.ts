import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../host/fake-clock.ts';
import { failureAnswer, jsonAnswer } from './example.ts';
import type { ExecCredential } from './exec-credential.ts';
import { openPluginTransport } from './open-plugin-transport.ts';
import type { Connection } from './read-kubeconfig.ts';
import type { TransportResponse } from './transport.ts';

const connection = { server: 'https://api', namespace: 'default', skipTlsVerification: false };
const request = { method: 'GET', path: '/' };

type Answer = (token: string | undefined) => TransportResponse;

function setUp(
  credentials: readonly (ExecCredential | Error)[],
  answer: Answer = () => jsonAnswer({}),
) {
  const clock = createFakeClock();
  const opened: Connection[] = [];
  const log: string[] = [];
  let runs = 0;
  const transport = openPluginTransport({
    ...{ connection, clock },
    runPlugin: async () => {
      const next = credentials[Math.min(runs, credentials.length - 1)];
      runs += 1;
      if (next === undefined || next instanceof Error) throw next;
      return next;
    },
    open: (one) => {
      opened.push(one);
      const { token = '' } = one;
      return {
        send: async () => answer(token),
        retire: () => log.push(`retire ${token}`),
        close: async () => void log.push(`close ${token}`),
      };
    },
  });
  return { clock, transport, opened, log, runs: () => runs };
}

test('send() runs the plugin once for requests that come together', async () => {
  const { transport, opened, runs } = setUp([
    { token: 'a', clientCertificate: 'C', clientKey: 'K' },
  ]);
  await Promise.all([transport.send(request), transport.send(request)]);
  await transport.send(request);
  assert.equal(runs(), 1);
  assert.deepEqual(opened, [{ ...connection, token: 'a', clientCertificate: 'C', clientKey: 'K' }]);
});

test('send() runs the plugin again when the credentials have expired', async () => {
  const { clock, transport, log, runs } = setUp([{ token: 'a', expiresAt: 1000 }, { token: 'b' }]);
  await transport.send(request);
  await clock.advance(999);
  await transport.send(request);
  assert.equal(runs(), 1);
  await clock.advance(1);
  await transport.send(request);
  assert.deepEqual([runs(), log], [2, ['retire a']]);
  await transport.close();
  assert.deepEqual(log, ['retire a', 'close b', 'close a']);
});

test('send() keeps its connections when the plugin only prolongs a token', async () => {
  const { clock, transport, opened } = setUp([
    { token: 'a', expiresAt: 1000 },
    { token: 'a', expiresAt: 2000 },
  ]);
  await transport.send(request);
  await clock.advance(1500);
  await transport.send(request);
  assert.equal(opened.length, 1);
});

test('send() repeats a refused request with new credentials', async () => {
  const { clock, transport, runs } = setUp([{ token: 'a' }, { token: 'b' }], (token) =>
    token === 'a' ? failureAnswer(401, 'Unauthorized') : jsonAnswer({}),
  );
  const first = await transport.send(request);
  assert.deepEqual([first.status, runs()], [401, 1]);
  await clock.advance(5000);
  const second = await transport.send(request);
  assert.deepEqual([second.status, runs()], [200, 2]);
});

test('send() does not run the plugin for each request that the server refuses', async () => {
  const { clock, transport, runs } = setUp([{ token: 'a' }], () =>
    failureAnswer(401, 'Unauthorized'),
  );
  for (let second = 0; second < 20; second += 1) {
    assert.equal((await transport.send(request)).status, 401);
    await clock.advance(1000);
  }
  assert.equal(runs(), 4);
});

test('send() does not run a plugin that failed for each request', async () => {
  const { clock, transport, runs } = setUp([new Error('no'), new Error('no'), { token: 'a' }]);
  for (let second = 0; second < 9; second += 1) {
    await assert.rejects(transport.send(request), /^Error: no$/);
    await clock.advance(1000);
  }
  assert.equal(runs(), 2);
  await clock.advance(1000);
  await transport.send(request);
  assert.equal(runs(), 3);
});

test('send() stops waiting for the plugin with its signal', async () => {
  const ending = new AbortController();
  const transport = openPluginTransport({
    connection,
    runPlugin: () => new Promise(() => {}),
  });
  const sent = transport.send({ ...request, signal: ending.signal });
  ending.abort(new Error('enough'));
  await assert.rejects(sent, /enough/);
});
