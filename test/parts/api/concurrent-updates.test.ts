// Writers of one object: who reads an old version loses, who sends a patch is tried again.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ConfigMap, configMap, newCollection } from '../harness/config-maps.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const timeout = 30_000;

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

test('of many updates from one version one wins', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  const made = await api.post<ConfigMap>(path, configMap('x'));
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      api.send<ConfigMap>({
        method: 'PUT',
        path: `${path}/x`,
        body: { ...made, data: { writer: String(i) } },
      }),
    ),
  );
  const winners = answers.filter(({ status }) => status === 200);
  assert.equal(winners.length, 1);
  assert.ok(answers.every(({ status }) => status === 200 || status === 409));
  assert.deepEqual(await api.get(`${path}/x`), winners[0]?.body);
});

test('updates without a version are all made, one after the other', { timeout }, async () => {
  const { api, store } = running;
  const path = await newCollection(api);
  await api.post(path, configMap('x'));
  const before = await store.currentRevision();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      api.put<ConfigMap>(`${path}/x`, configMap('x', { writer: String(i) })),
    ),
  );
  const versions = new Set(answers.map(({ metadata }) => metadata.resourceVersion));
  assert.equal(versions.size, 20);
  assert.equal(await store.currentRevision(), before + 20);
});

test('patches of different fields are all kept', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  await api.post(path, configMap('x'));
  await Promise.all(
    Array.from({ length: 150 }, (_, i) => api.patch(`${path}/x`, { data: { [`k${i}`]: 'v' } })),
  );
  const { data = {} } = await api.get<ConfigMap>(`${path}/x`);
  assert.equal(Object.keys(data).length, 150);
});

test('counting by read and conditional update loses no count', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  await api.post(path, configMap('count', { n: '0' }));
  const increment = async (): Promise<void> => {
    for (;;) {
      const object = await api.get<ConfigMap>(`${path}/count`);
      const data = { n: String(Number(object.data?.n) + 1) };
      const body = { ...object, data };
      const { status } = await api.send({ method: 'PUT', path: `${path}/count`, body });
      if (status === 200) return;
      assert.equal(status, 409);
    }
  };
  await Promise.all(Array.from({ length: 25 }, increment));
  assert.equal((await api.get<ConfigMap>(`${path}/count`)).data?.n, '25');
});

test('a patch that changes nothing is no write', { timeout }, async () => {
  const { api, store } = running;
  const path = await newCollection(api);
  const made = await api.post<ConfigMap>(path, configMap('x', { a: '1' }));
  const before = await store.currentRevision();
  assert.deepEqual(await api.patch(`${path}/x`, { data: { a: '1' } }), made);
  assert.deepEqual(await api.put(`${path}/x`, made), made);
  assert.equal(await store.currentRevision(), before);
});

test('updates and deletes of one object end as the last of them said', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  const write = async (writer: number): Promise<void> => {
    for (let i = 0; i < 10; i++) {
      await api.send({ method: 'POST', path, body: configMap('x') });
      const body = { data: { writer: `${writer}-${i}` } };
      const headers = { 'content-type': 'application/merge-patch+json' };
      await api.send({ method: 'PATCH', path: `${path}/x`, body, headers });
      await api.send({ method: 'DELETE', path: `${path}/x` });
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
  const { items } = await api.get<{ items: readonly ConfigMap[] }>(path);
  assert.ok(items.length <= 1);
});

test('a read after an acknowledged write shows it, to every client', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  await Promise.all(
    Array.from({ length: 30 }, async (_, i) => {
      const made = await api.post<ConfigMap>(path, configMap(`x-${i}`));
      const { items } = await api.get<{ items: readonly ConfigMap[] }>(path);
      const found = items.find(({ metadata }) => metadata.name === `x-${i}`);
      assert.equal(found?.metadata.resourceVersion, made.metadata.resourceVersion);
    }),
  );
});
