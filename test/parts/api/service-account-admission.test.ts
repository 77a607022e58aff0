// Pods need an account that exists; the default one of a new namespace is waited for, because a controller makes it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const timeout = 30_000;
let running: MemoryServer;
before(async () => {
  running = await startMemoryServer({ access: { admissionPlugins: {} } });
});
after(() => running.stop());

const pod = (name: string, more: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...more },
});

async function namespace(name: string): Promise<string> {
  await running.api.post('/api/v1/namespaces', { metadata: { name } });
  return `/api/v1/namespaces/${name}`;
}

test('a pod of a new namespace waits for its account', { timeout }, async () => {
  const { api } = running;
  const path = await namespace('new');
  const created = api.post<Pod>(`${path}/pods`, pod('p'));
  await api.ping();
  await api.post(`${path}/serviceaccounts`, {
    metadata: { name: 'default' },
    imagePullSecrets: [{ name: 'pull' }],
  });
  const { spec } = await created;
  assert.equal(spec.serviceAccountName, 'default');
  assert.deepEqual(spec.imagePullSecrets, [{ name: 'pull' }]);
  const [volume] = spec.volumes ?? [];
  assert.match(volume?.name ?? '', /^kube-api-access-[a-z0-9]{5}$/);
  const sources = volume?.projected?.sources ?? [];
  assert.deepEqual(sources[0]?.serviceAccountToken, { expirationSeconds: 3607, path: 'token' });
});

test('a pod without an account is refused in upstream’s words', { timeout }, async () => {
  const { api } = running;
  const path = await namespace('none');
  for (const [name, more] of [
    ['default', {}],
    ['robot', { serviceAccountName: 'robot' }],
  ] as const) {
    const { status, body } = await api.send({
      ...{ method: 'POST', path: `${path}/pods`, body: pod('p', more) },
    });
    assert.equal(status, 403);
    assert.equal(
      body.message,
      `pods "p" is forbidden: error looking up service account none/${name}: serviceaccount "${name}" not found`,
    );
  }
});

test('a pod may do without a token, and so may all pods of an account', { timeout }, async () => {
  const { api } = running;
  const path = await namespace('plain');
  await api.post(`${path}/serviceaccounts`, { metadata: { name: 'default' } });
  await api.post(`${path}/serviceaccounts`, {
    metadata: { name: 'quiet' },
    automountServiceAccountToken: false,
  });
  const volumes = async (name: string, more: object): Promise<number> => {
    const { spec } = await api.post<Pod>(`${path}/pods`, pod(name, more));
    return (spec.volumes ?? []).length;
  };
  assert.equal(await volumes('a', {}), 1);
  assert.equal(await volumes('b', { automountServiceAccountToken: false }), 0);
  assert.equal(await volumes('c', { serviceAccountName: 'quiet' }), 0);
  const both = { serviceAccountName: 'quiet', automountServiceAccountToken: true };
  assert.equal(await volumes('d', both), 1);
});
