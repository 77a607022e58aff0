// Who may speak to the agent of a node: what counts is a certificate or token of this very connection, now.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { test } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { issueClientCertificate } from '../../../src/apiserver/certificates/authority.ts';
import { createFakeClock } from '../../../src/host/fake-clock.ts';
import { testCredentials } from '../harness/memory-server.ts';
import { startNodeHarness } from '../harness/node-harness.ts';

const limit = { timeout: 60_000 };
const dayMs = 24 * 3600 * 1000;
const lifeDays = 0.01;

type Answer = { readonly line: string; readonly isReused: boolean; readonly session?: Buffer };

/** One request on a connection of its own: the first line of the answer, and the last session that the server offered. */
async function ask(port: number, options: ConnectionOptions): Promise<Answer> {
  const socket: TLSSocket = connect({
    ...{ host: '127.0.0.1', port, rejectUnauthorized: false },
    ...options,
  });
  let session: Buffer | undefined;
  socket.on('session', (offered: Buffer) => (session = offered));
  await once(socket, 'secureConnect');
  const isReused = socket.isSessionReused();
  socket.write('GET /pods HTTP/1.1\r\nhost: node\r\nconnection: close\r\n\r\n');
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  const line = text.split('\r\n')[0] ?? '';
  return { line, isReused, ...(session === undefined ? {} : { session }) };
}

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`${version}: a resumed session without a certificate is anonymous`, limit, async (t) => {
    const { node } = await startNodeHarness(t);
    const port = node.server?.port ?? 0;
    const options = { minVersion: version, maxVersion: version };
    const first = await ask(port, options);
    assert.equal(first.line, 'HTTP/1.1 401 Unauthorized');
    const again = await ask(port, {
      ...options,
      ...(first.session === undefined ? {} : { session: first.session }),
    });
    assert.deepEqual([again.line, again.isReused], ['HTTP/1.1 401 Unauthorized', false]);
  });

  test(`${version}: a client presents its certificate on every connection`, limit, async (t) => {
    const { node } = await startNodeHarness(t);
    const port = node.server?.port ?? 0;
    const { certificate: cert, privateKey: key } = testCredentials().administrator;
    const options = { minVersion: version, maxVersion: version };
    const first = await ask(port, { ...options, cert, key });
    assert.equal(first.line, 'HTTP/1.1 200 OK');
    const again = await ask(port, {
      ...options,
      ...(first.session === undefined ? {} : { session: first.session }),
    });
    assert.deepEqual([again.line, again.isReused], ['HTTP/1.1 401 Unauthorized', false]);
  });
}

test('an expired certificate is refused on open connections', limit, async (t) => {
  const clock = createFakeClock(Date.now());
  const { node } = await startNodeHarness(t, { clock });
  const { certificate: cert, privateKey: key } = issueClientCertificate(
    testCredentials().authority,
    { commonName: 'jane', organizations: ['system:masters'], days: lifeDays, now: Date.now() },
  );
  const agent = new Agent({ keepAlive: true, maxSockets: 1, cert, key, rejectUnauthorized: false });
  const sockets = new Set<unknown>();
  const status = (): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asking = request(
        { agent, host: '127.0.0.1', port: node.server?.port, path: '/healthz' },
        (response) => response.resume().once('end', () => resolve(response.statusCode)),
      );
      asking.once('socket', (socket) => sockets.add(socket));
      asking.once('error', reject).end();
    });
  assert.equal(await status(), 200);
  await clock.advance(lifeDays * dayMs + 60_000);
  assert.equal(await status(), 401);
  assert.equal(sockets.size, 1);
  agent.destroy();
});
