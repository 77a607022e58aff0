// Who owns the fields that a path sets whatever is sent: no manager, by that path.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KubeObject } from '../../../src/meta/object.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const timeout = 30_000;

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

type Fields = { readonly [name: string]: Fields };

/** The fields that a subresource owns, or the object itself where it is empty. */
function ownedBy(object: KubeObject, subresource: string): Fields {
  const entries = object.metadata.managedFields ?? [];
  const own = entries.filter((entry) => (entry.subresource ?? '') === subresource);
  return Object.assign({}, ...own.map(({ fieldsV1 }) => fieldsV1)) as Fields;
}

const pod = { spec: { containers: [{ name: 'c', image: 'app:1' }] } };

test('finalize owns no status of the namespace', { timeout }, async () => {
  const { api } = running;
  const metadata = { name: 'leaving' };
  await api.post('/api/v1/namespaces', { metadata, spec: { finalizers: ['example.com/hold'] } });
  await api.delete('/api/v1/namespaces/leaving');
  const spec = { finalizers: ['kubernetes', 'example.com/other'] };
  const left = await api.put<KubeObject>('/api/v1/namespaces/leaving/finalize', { metadata, spec });
  assert.deepEqual(ownedBy(left, 'finalize'), { 'f:spec': { 'f:finalizers': {} } });
});

test('a status write owns no labels of a deployment', { timeout }, async () => {
  const { api } = running;
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const labels = { app: 'web' };
  const template = { metadata: { labels }, ...pod };
  await api.post(path, {
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: labels }, template },
  });
  const written = await api.patch<KubeObject>(`${path}/web/status`, {
    metadata: { labels: { other: 'x' } },
    status: { observedGeneration: 1 },
  });
  assert.equal(written.metadata.labels, undefined);
  assert.deepEqual(ownedBy(written, 'status'), { 'f:status': { 'f:observedGeneration': {} } });
});

test('a status write owns no owner references of a pod', { timeout }, async () => {
  const { api } = running;
  const path = '/api/v1/namespaces/default/pods';
  await api.post(path, { metadata: { name: 'a' }, ...pod });
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: '1' };
  const written = await api.patch<KubeObject>(`${path}/a/status`, {
    metadata: { ownerReferences: [owner] },
    status: { message: 'm' },
  });
  assert.deepEqual(ownedBy(written, 'status'), { 'f:status': { 'f:message': {} } });
});
