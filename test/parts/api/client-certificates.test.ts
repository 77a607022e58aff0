// A client certificate is judged on every request: when it has ended, when its authority was replaced, when it names two
// users. An open connection and a resumed TLS session are worth no more than the certificate behind them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import {
  issueClientCertificate,
  issueServerCertificate,
  makeAuthority,
} from '../../../src/apiserver/certificates/authority.ts';
import { certificateWithSubject } from '../../../src/apiserver/certificates/example.ts';
import type { KeyPair } from '../../../src/apiserver/certificates/x509.ts';
import { openApiClient } from '../harness/api-client.ts';
import { startMemoryServer, testCredentials } from '../harness/memory-server.ts';

const limit = { timeout: 60_000 };
const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const dayMs = 24 * 60 * 60 * 1000;
const { authority } = testCredentials();
const person = { commonName: 'jane', organizations: ['b', 'a'], days: 1, now: Date.now() };
const jane = issueClientCertificate(authority, person);

async function start(t: TestContext) {
  let ahead = 0;
  const running = await startMemoryServer({ clock: { now: () => Date.now() + ahead } });
  t.after(running.stop);
  const { port } = running.server.address;
  const open = async (pair: KeyPair) => {
    const { certificate: cert, privateKey: key } = pair;
    const client = await openApiClient({ port, ca: authority.certificate, cert, key });
    t.after(client.close);
    const review = { method: 'POST', path, body: {} };
    return async () => {
      const { status, body } = await client.send<{ status?: { userInfo?: object } }>(review);
      return { status, user: body.status?.userInfo as { username: string } | undefined };
    };
  };
  return { ...running, port, open, advance: (ms: number) => (ahead += ms) };
}

test('a certificate that ends is refused on the connection it opened', limit, async (t) => {
  const { open, advance } = await start(t);
  const ask = await open(jane);
  const first = await ask();
  assert.deepEqual([first.status, first.user?.username], [201, 'jane']);
  advance(2 * dayMs);
  assert.equal((await ask()).status, 401);
  advance(-4 * dayMs);
  assert.equal((await ask()).status, 401, 'nor before it begins');
  advance(2 * dayMs);
  assert.equal((await ask()).status, 201);
});

test('a certificate that ends is refused on a resumed session', limit, async (t) => {
  const { port, advance } = await start(t);
  const options = {
    ...{ host: 'localhost', port, ca: authority.certificate },
    ...{ cert: jane.certificate, key: jane.privateKey, ALPNProtocols: ['http/1.1'] },
  };
  const first = connect(options);
  const [session] = (await once(first, 'session')) as [Buffer];
  // Node never sends what is written from within that event.
  await setImmediate();
  assert.equal(await statusOver(first), 201);
  const resumed = connect({ ...options, session });
  await once(resumed, 'secureConnect');
  assert.ok(resumed.isSessionReused());
  advance(2 * dayMs);
  assert.equal(await statusOver(resumed), 401);
});

/** Of one request over a connection that is ended afterwards. */
async function statusOver(socket: TLSSocket): Promise<number> {
  socket.write(`POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(String(head))?.[1]);
}

test(
  'another authority ends what the old one signed, also on open connections',
  limit,
  async (t) => {
    const { open, server } = await start(t);
    const ask = await open(jane);
    assert.equal((await ask()).status, 201);
    const now = Date.now();
    const use = (next: KeyPair): void =>
      server.useCertificates({
        ...testCredentials(),
        authority: next,
        server: issueServerCertificate(authority, { names: ['localhost'], now }),
      });
    use(makeAuthority(now, authority.privateKey));
    assert.equal(
      (await ask()).status,
      201,
      'the same key in a new certificate is no other authority',
    );
    use(makeAuthority(now));
    assert.equal((await ask()).status, 401);
    assert.equal((await (await open(jane))()).status, 401, 'nor does a new connection help');
    use(authority);
    assert.equal((await ask()).status, 201);
  },
);

test('a certificate with two common names is refused', limit, async (t) => {
  const { open } = await start(t);
  for (const names of [
    ['jane', 'kubernetes-admin'],
    ['kubernetes-admin', 'kubernetes-admin'],
  ]) {
    const subject = [
      ...names.map((name) => ['CN', name] as const),
      ['O', 'system:masters'] as const,
    ];
    const ask = await open(certificateWithSubject(authority, subject));
    assert.equal((await ask()).status, 401, names.join());
  }
});

test('several organizations are several groups', limit, async (t) => {
  const { open } = await start(t);
  const { user } = await (await open(jane))();
  assert.deepEqual((user as unknown as { groups: string[] }).groups, [
    ...['b', 'a', 'system:authenticated'],
  ]);
});
