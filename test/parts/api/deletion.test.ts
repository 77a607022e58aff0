// How objects go: at once, after their finalizers, under conditions, and with what belongs to them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Namespace } from '../../../src/kinds/namespace/types.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { assertExact, readAllocations } from '../harness/allocation-checks.ts';
import { brief, type ConfigMap, configMap, newCollection } from '../harness/config-maps.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const timeout = 30_000;
const services = '/api/v1/namespaces/default/services';

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

const statusOf = async (path: string): Promise<number> =>
  (await running.api.send({ method: 'GET', path })).status;

test('an object with finalizers is marked, and removed with the last of them', {
  timeout,
}, async () => {
  const { api } = running;
  const path = await newCollection(api);
  const finalizers = ['example.com/a', 'example.com/b'];
  const made = await api.post<ConfigMap>(path, { metadata: { name: 'held', finalizers } });
  const watch = await api.watch<ConfigMap>(
    `${path}?watch=1&resourceVersion=${made.metadata.resourceVersion}`,
  );
  const marked = await api.delete<ConfigMap>(`${path}/held`);
  assert.notEqual(marked.metadata.deletionTimestamp, undefined);
  assert.deepEqual(marked.metadata.finalizers, finalizers);
  const again = await api.delete<ConfigMap>(`${path}/held`);
  assert.equal(again.metadata.resourceVersion, marked.metadata.resourceVersion);
  await api.patch(`${path}/held`, { metadata: { finalizers: ['example.com/b'] } });
  assert.equal(await statusOf(`${path}/held`), 200);
  await api.patch(`${path}/held`, { metadata: { finalizers: null } });
  assert.equal(await statusOf(`${path}/held`), 404);
  await watch.until((events) => events.length >= 3);
  assert.deepEqual(brief(watch.events), ['MODIFIED held', 'MODIFIED held', 'DELETED held']);
  watch.close();
});

test('a name cannot be reused while its object is marked, and can after it is removed', {
  timeout,
}, async () => {
  const { api } = running;
  const path = await newCollection(api);
  await api.post(path, { metadata: { name: 'x', finalizers: ['example.com/a'] } });
  await api.delete(`${path}/x`);
  const refused = await api.send({ method: 'POST', path, body: configMap('x') });
  assert.equal(refused.status, 409);
  assert.equal(refused.body.message, 'object is being deleted: configmaps "x" already exists');
  await api.patch(`${path}/x`, { metadata: { finalizers: null } });
  await api.post(path, configMap('x'));
});

test('a marked service keeps its addresses and ports until it is removed', {
  timeout,
}, async () => {
  const { api, store } = running;
  const service = await api.post<Service>(services, {
    metadata: { name: 'held', finalizers: ['example.com/a'] },
    spec: { type: 'NodePort', ports: [{ port: 80 }] },
  });
  await api.delete(`${services}/held`);
  await assertExact(store);
  const port = String(service.spec.ports?.[0]?.nodePort);
  assert.equal((await readAllocations(store)).ports.get(port), 'default/held');
  await api.patch(`${services}/held`, { metadata: { finalizers: [] } });
  assert.equal(await statusOf(`${services}/held`), 404);
  await assertExact(store);
  assert.equal((await readAllocations(store)).ports.get(port), undefined);
});

test('preconditions must hold (KCT-26)', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  const made = await api.post<ConfigMap>(path, configMap('x'));
  const { uid, resourceVersion } = made.metadata;
  const wrong = [{ uid: 'other' }, { resourceVersion: '1' }, { uid, resourceVersion: '1' }];
  for (const preconditions of wrong) {
    const refused = await api.send({
      method: 'DELETE',
      path: `${path}/x`,
      body: { preconditions },
    });
    assert.equal(refused.status, 409, JSON.stringify(preconditions));
    assert.equal(refused.body.reason, 'Conflict');
  }
  await api.delete(`${path}/x`, { preconditions: { uid, resourceVersion } });
});

test('of many concurrent deletes of one object one succeeds and the others get 404', {
  timeout,
}, async () => {
  const { api, store } = running;
  await api.post(services, {
    metadata: { name: 'once' },
    spec: { type: 'NodePort', ports: [{ port: 80 }] },
  });
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => api.send({ method: 'DELETE', path: `${services}/once` })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [
    200,
    ...Array.from({ length: 19 }, () => 404),
  ]);
  await assertExact(store);
});

test('a service takes the endpoints of its name along', { timeout }, async () => {
  const { api } = running;
  const endpoints = '/api/v1/namespaces/default/endpoints';
  await api.post(services, { metadata: { name: 'along' }, spec: { ports: [{ port: 80 }] } });
  await api.post(endpoints, { metadata: { name: 'along' } });
  await api.post(endpoints, { metadata: { name: 'other' } });
  await api.delete(`${services}/along`);
  assert.equal(await statusOf(`${endpoints}/along`), 404);
  assert.equal(await statusOf(`${endpoints}/other`), 200);
});

test('a collection is deleted by its selectors', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  for (let i = 0; i < 100; i++) {
    await api.post(path, configMap(`c-${i}`, {}, { half: String(i % 2) }));
  }
  await api.delete(`${path}?labelSelector=half%3D1`);
  const { items } = await api.get<{ items: readonly KubeObject[] }>(path);
  assert.equal(items.length, 50);
  assert.ok(items.every(({ metadata }) => metadata.labels?.half === '0'));
  await api.delete(path);
  assert.equal((await api.get<{ items: readonly KubeObject[] }>(path)).items.length, 0);
});

test('dependents are left to the collector by a finalizer', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  for (const [policy, finalizer] of [
    ['Foreground', 'foregroundDeletion'],
    ['Orphan', 'orphan'],
  ]) {
    await api.post(path, configMap('owner'));
    const marked = await api.delete<ConfigMap>(`${path}/owner`, { propagationPolicy: policy });
    assert.deepEqual(marked.metadata.finalizers, [finalizer]);
    await api.patch(`${path}/owner`, { metadata: { finalizers: null } });
    assert.equal(await statusOf(`${path}/owner`), 404);
  }
  await api.post(path, configMap('owner'));
  const gone = await api.delete<Status>(`${path}/owner`, { propagationPolicy: 'Background' });
  assert.equal(gone.status, 'Success');
});

test('nothing can be created in a terminating namespace', { timeout }, async () => {
  const { api } = running;
  await api.post('/api/v1/namespaces', { metadata: { name: 'going' } });
  await api.delete('/api/v1/namespaces/going');
  const namespace = await api.get<KubeObject & { status: { phase: string } }>(
    '/api/v1/namespaces/going',
  );
  assert.equal(namespace.status.phase, 'Terminating');
  const refused = await api.send({
    method: 'POST',
    path: '/api/v1/namespaces/going/configmaps',
    body: configMap('x'),
  });
  assert.equal(refused.status, 403);
  await api.put('/api/v1/namespaces/going/finalize', { ...namespace, spec: { finalizers: [] } });
  assert.equal(await statusOf('/api/v1/namespaces/going'), 404);
});

test('a namespace without finalizers is removed by its second delete (KCT-40)', async () => {
  const { api } = running;
  const path = '/api/v1/namespaces/bare';
  await api.post('/api/v1/namespaces', { metadata: { name: 'bare' } });
  await api.put(`${path}/finalize`, { metadata: { name: 'bare' }, spec: { finalizers: [] } });
  const first = await api.send<Namespace>({ method: 'DELETE', path });
  assert.deepEqual([first.status, first.body.status.phase], [200, 'Terminating']);
  assert.equal(await statusOf(path), 200);
  await api.delete(path);
  assert.equal(await statusOf(path), 404);
});

test('a delete that has to wait is accepted when it orphans nothing', async () => {
  const { api } = running;
  const path = '/api/v1/namespaces/accepted';
  await api.post('/api/v1/namespaces', { metadata: { name: 'accepted' } });
  const remove = (body: object) => api.send<Namespace>({ method: 'DELETE', path, body });
  const { status, body } = await remove({ orphanDependents: false });
  assert.equal(status, 202);
  assert.deepEqual(body.metadata.finalizers, ['foregroundDeletion']);
  assert.equal((await remove({ propagationPolicy: 'Orphan' })).status, 200);
  assert.deepEqual((await api.get<Namespace>(path)).metadata.finalizers, ['foregroundDeletion']);
});
