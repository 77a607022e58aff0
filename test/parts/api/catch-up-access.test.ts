// With several servers on one store a request first costs a quorum read, which anonymous clients must not cause.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMemoryStore } from '../../../src/storage/backends/memory/store.ts';
import { openApiClient } from '../harness/api-client.ts';
import { startMemoryServer, testCredentials } from '../harness/memory-server.ts';

const path = '/api/v1/namespaces/default/services';

test('who proves nothing causes no read of the other servers', { timeout: 60_000 }, async (t) => {
  let reads = 0;
  const store = openMemoryStore({ now: () => Date.now() });
  const catchUp = async (): Promise<void> => {
    reads += 1;
  };
  const { api, server, stop } = await startMemoryServer({ store: { ...store, catchUp } });
  t.after(stop);
  const ca = testCredentials().authority.certificate;
  const anonymous = await openApiClient({ port: server.address.port, ca });
  t.after(anonymous.close);
  const readsOf = async (send: () => Promise<{ readonly status: number }>) => {
    const before = reads;
    const { status } = await send();
    return [status, reads - before];
  };
  const account = await api
    .get('/api/v1/namespaces/default/serviceaccounts/default')
    .catch(() =>
      api.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } }),
    );
  const { status } = await api.post<{ status: { token: string } }>(
    `/api/v1/namespaces/default/serviceaccounts/${account.metadata.name}/token`,
    {},
  );
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const forged = `${status.token.slice(0, -8)}AAAAAAAA`;
  const request = { method: 'GET', path };
  assert.deepEqual(await readsOf(() => api.send(request)), [200, 1]);
  assert.deepEqual(await readsOf(() => anonymous.send(request)), [403, 0]);
  for (const token of ['nonsense', forged]) {
    const headers = bearer(token);
    assert.deepEqual(await readsOf(() => anonymous.send({ ...request, headers })), [401, 0], token);
  }
  const headers = bearer(status.token);
  assert.deepEqual(await readsOf(() => anonymous.send({ ...request, headers })), [403, 1]);
  await api.delete(`/api/v1/namespaces/default/serviceaccounts/${account.metadata.name}`);
  // Another server may have made the account anew: only what was written tells.
  assert.deepEqual(await readsOf(() => anonymous.send({ ...request, headers })), [401, 1]);
});
