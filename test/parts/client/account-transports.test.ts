// Requests as service accounts against the real API server: tokens are made, renewed and replaced, whatever happens to account and server.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAccountTransports } from '../../../src/client/account-transports.ts';
import { type ApiCaller, callApi } from '../../../src/client/api-call.ts';
import { createHttpTransport } from '../../../src/client/http-transport.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { createFakeClock, type FakeClock } from '../../../src/host/fake-clock.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { type MemoryServer, startMemoryServer, testCredentials } from '../harness/memory-server.ts';

const limit = { timeout: 60_000 };
const namespace = 'kube-system';
const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
const start = Date.parse('2026-01-01T00:00:00Z');

function connect(t: TestContext, { server }: MemoryServer): Transport {
  const { authority, administrator } = testCredentials();
  const transport = createHttpTransport({
    server: `https://127.0.0.1:${server.address.port}`,
    namespace: 'default',
    certificateAuthority: authority.certificate,
    clientCertificate: administrator.certificate,
    clientKey: administrator.privateKey,
    skipTlsVerification: false,
  });
  t.after(() => transport.close());
  return transport;
}

type Setup = {
  readonly server: MemoryServer;
  readonly clock: FakeClock;
  /** Requests for tokens that went out. */
  readonly requested: () => number;
  readonly own: ApiCaller;
  /** Answers every request for a token by failing, until it is called again. */
  readonly refuse: (is: boolean) => void;
  readonly use: (server: MemoryServer) => void;
};

async function setUp(t: TestContext): Promise<Setup> {
  const clock = createFakeClock(start);
  const server = await startMemoryServer({ clock });
  t.after(server.stop);
  let transport = connect(t, server);
  let requested = 0;
  let isRefusing = false;
  const send: Transport['send'] = (request) => {
    if (!request.path.endsWith('/token')) return transport.send(request);
    requested += 1;
    return isRefusing ? Promise.reject(new Error('no way')) : transport.send(request);
  };
  const caller = { transport: { send, close: () => Promise.resolve() }, userAgent: 'test' };
  const of = createAccountTransports({ caller, namespace, clock, log: silentLog });
  return {
    ...{ server, clock },
    requested: () => requested,
    own: { transport: of('some-controller'), userAgent: 'test' },
    refuse: (is) => {
      isRefusing = is;
    },
    use: (other) => {
      transport = connect(t, other);
    },
  };
}

const whoAmI = async (caller: ApiCaller): Promise<string> => {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const body = { kind: 'SelfSubjectReview', apiVersion: 'authentication.k8s.io/v1' };
  const { status } = (await callApi(caller, { method: 'POST', path, body })) as {
    readonly status: { readonly userInfo: { readonly username: string } };
  };
  return status.userInfo.username;
};
const account = 'system:serviceaccount:kube-system:some-controller';
const hourMs = 3_600_000;

test(
  'an account that is not there is made, and many requests ask for one token',
  limit,
  async (t) => {
    const { own, requested, server } = await setUp(t);
    const names = await Promise.all(Array.from({ length: 20 }, () => whoAmI(own)));
    assert.deepEqual(new Set(names), new Set([account]));
    // One found that there is no account yet.
    assert.equal(requested(), 2);
    assert.equal((await server.api.get(`${accounts}/some-controller`)).kind, 'ServiceAccount');
  },
);

test('a token is renewed when four fifths of its time are over', limit, async (t) => {
  const { own, requested, clock } = await setUp(t);
  await whoAmI(own);
  const before = requested();
  await clock.advance(0.79 * hourMs);
  await whoAmI(own);
  assert.equal(requested(), before);
  await clock.advance(0.02 * hourMs);
  assert.equal(await whoAmI(own), account);
  assert.equal(requested(), before + 1);
  // After a day the first token has expired, without any failed request.
  await clock.advance(24 * hourMs);
  assert.equal(await whoAmI(own), account);
});

test(
  'a token serves until its end when it cannot be renewed, with back-off between tries',
  limit,
  async (t) => {
    const { own, requested, clock, refuse } = await setUp(t);
    await whoAmI(own);
    await clock.advance(0.9 * hourMs);
    refuse(true);
    const before = requested();
    for (let tries = 0; tries < 100; tries += 1) {
      assert.equal(await whoAmI(own), account);
      await clock.advance(1000);
    }
    assert.ok(requested() - before <= 12, `${requested() - before} requests in 100 s`);
    await clock.advance(0.2 * hourMs);
    await assert.rejects(
      whoAmI(own),
      /Cannot act as service account "kube-system\/some-controller": no way/,
    );
    refuse(false);
    await clock.advance(60_000);
    assert.equal(await whoAmI(own), account);
  },
);

test(
  'an account that another client deletes is created again, with a new token',
  limit,
  async (t) => {
    const { own, server } = await setUp(t);
    await whoAmI(own);
    await server.api.delete(`${accounts}/some-controller`);
    assert.equal(await whoAmI(own), account);
  },
);

test('a server that comes back without knowing the token gives another', limit, async (t) => {
  const { own, clock, use } = await setUp(t);
  await whoAmI(own);
  const other = await startMemoryServer({ clock });
  t.after(other.stop);
  use(other);
  assert.equal(await whoAmI(own), account);
});
