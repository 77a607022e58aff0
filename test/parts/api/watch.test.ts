// What a watcher sees: selections, starts, bookmarks, and the end of those who are too slow or too late.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import type { ObjectList, WatchEvent } from '../harness/api-client.ts';
import {
  brief,
  type ConfigMap,
  configMap,
  largeData,
  newCollection,
} from '../harness/config-maps.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const timeout = 30_000;

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

const put = (
  path: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<ConfigMap> => running.api.post(path, configMap(name, {}, labels));

const versionOf = async (path: string): Promise<string> =>
  (await running.api.get<ObjectList>(path)).metadata.resourceVersion;

test('a watch of a selection sees objects enter and leave it (KCT-08)', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  await put(path, 'in', { app: 'web' });
  await put(path, 'out', { app: 'other' });
  const watch = await api.watch<ConfigMap>(
    `${path}?watch=1&labelSelector=app%3Dweb&resourceVersion=${await versionOf(path)}`,
  );
  const label = (name: string, app: string): Promise<ConfigMap> =>
    api.patch(`${path}/${name}`, { metadata: { labels: { app } } });
  await label('out', 'web');
  await api.patch(`${path}/out`, { data: { a: '1' } });
  const left = await label('out', 'other');
  await api.patch(`${path}/out`, { data: { a: '2' } });
  await api.delete(`${path}/out`);
  await put(path, 'never', { app: 'other' });
  await api.delete(`${path}/in`);
  await watch.until((events) => events.length >= 4);
  assert.deepEqual(brief(watch.events), ['ADDED out', 'MODIFIED out', 'DELETED out', 'DELETED in']);
  const departed = watch.events[2]?.object;
  assert.equal(departed?.metadata.labels?.app, 'web', 'shown as it was');
  assert.equal(departed?.metadata.resourceVersion, left.metadata.resourceVersion);
  watch.close();
});

test('a watch without a version starts with what there is', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  await put(path, 'b');
  await put(path, 'a');
  for (const query of ['watch=1', 'watch=1&resourceVersion=0']) {
    const watch = await api.watch(`${path}?${query}`);
    await api.patch(`${path}/a`, { data: { by: query } });
    await watch.until((events) => events.length >= 3);
    assert.deepEqual(brief(watch.events), ['ADDED a', 'ADDED b', 'MODIFIED a']);
    watch.close();
  }
});

test('a watch of one object sees only that', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  const oldForm = `${path.replace('/v1/', '/v1/watch/')}/one?`;
  const selector = `${path}?watch=1&fieldSelector=metadata.name%3Done&`;
  for (const form of [oldForm, selector]) {
    const watch = await api.watch(`${form}resourceVersion=${await versionOf(path)}`);
    await put(path, 'other');
    await put(path, 'one');
    await api.delete(`${path}/other`);
    await api.delete(`${path}/one`);
    await watch.until((events) => events.length >= 2);
    assert.deepEqual(brief(watch.events), ['ADDED one', 'DELETED one']);
    watch.close();
  }
});

test('a delete has the last state at its own version', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  const made = await api.post<ConfigMap>(path, configMap('a', { k: 'v' }));
  const version = made.metadata.resourceVersion ?? '';
  const watch = await api.watch<ConfigMap>(`${path}?watch=1&resourceVersion=${version}`);
  await api.delete(`${path}/a`);
  await watch.until((events) => events.length >= 1);
  const [event] = watch.events;
  assert.deepEqual(event?.object.data, { k: 'v' });
  assert.equal(Number(event?.object.metadata.resourceVersion), Number(version) + 1);
  watch.close();
});

test('a streaming list ends its state with a bookmark (KCT-07)', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  await put(path, 'a');
  const watch = await api.watch(
    `${path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  );
  await watch.until((events) => events.length >= 2);
  const [state, end] = watch.events;
  assert.equal(state?.type, 'ADDED');
  assert.equal(end?.type, 'BOOKMARK');
  assert.deepEqual(end?.object.metadata.annotations, { 'k8s.io/initial-events-end': 'true' });
  assert.equal(end?.object.metadata.resourceVersion, await versionOf(path));
  await put(path, 'b');
  await watch.until((events) => events.length >= 3);
  assert.deepEqual(brief(watch.events).at(-1), 'ADDED b');
  watch.close();
});

test('bookmarks give an idle watcher a current resourceVersion', { timeout }, async (t) => {
  const { api } = running;
  const path = await newCollection(api);
  const version = await versionOf(path);
  t.mock.timers.enable({ apis: ['setInterval'] });
  const query = `watch=1&resourceVersion=${version}`;
  const watch = await api.watch(`${path}?${query}&allowWatchBookmarks=true`);
  const plain = await api.watch(`${path}?${query}`);
  const other = await put(await newCollection(api), 'elsewhere');
  t.mock.timers.tick(60_000);
  await watch.until((events) => events.length >= 1);
  t.mock.timers.tick(60_000);
  await watch.until((events) => events.length >= 2);
  for (const { type, object } of watch.events) {
    assert.equal(type, 'BOOKMARK');
    assert.equal(object.kind, 'ConfigMap');
    assert.equal(object.metadata.resourceVersion, other.metadata.resourceVersion);
  }
  await put(path, 'a');
  await plain.until((events) => events.length >= 1);
  assert.deepEqual(brief(plain.events), ['ADDED a'], 'who did not ask gets none');
  watch.close();
  plain.close();
});

test('the last bookmark is sent before the end of the watch', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  const query = `watch=1&resourceVersion=${await versionOf(path)}&timeoutSeconds=3`;
  const watch = await api.watch(`${path}?${query}&allowWatchBookmarks=true`);
  const plain = await api.watch(`${path}?${query}`);
  await Promise.all([watch.ended, plain.ended]);
  assert.deepEqual(
    watch.events.map(({ type }) => type),
    ['BOOKMARK'],
  );
  assert.deepEqual(plain.events, [], 'who did not ask gets none');
});

test('a watch from a version that is too old ends with 410 (KCT-06)', { timeout }, async () => {
  const watch = await running.api.watch<Status>('/api/v1/services?watch=1&resourceVersion=1');
  await watch.ended;
  const current = await running.store.currentRevision();
  assert.deepEqual(
    watch.events.map(({ type, object }) => `${type} ${object.code} ${object.message}`),
    [`ERROR 410 too old resource version: 1 (${current})`],
  );
});

test('a watch may have a longer timeout than a timer', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  const watch = await api.watch(`${path}?watch=1&timeoutSeconds=99999999999`);
  await put(path, 'a');
  await watch.until((events) => events.length >= 1);
  watch.close();
});

test('a watch ends after its timeout (KCT-06)', { timeout }, async () => {
  const watch = await running.api.watch('/api/v1/configmaps?watch=1&timeoutSeconds=1');
  await watch.ended;
  assert.ok(watch.events.every(({ type }) => type === 'ADDED'));
});

test('a watcher that does not read gets 410 and is closed', { timeout }, async () => {
  const { api } = running;
  const path = await newCollection(api);
  await put(path, 'large');
  const watch = await api.watch<KubeObject & Status>(
    `${path}?watch=1&resourceVersion=${await versionOf(path)}`,
  );
  watch.pause();
  for (let i = 0; i < 25; i++) {
    await api.patch(`${path}/large`, { data: { ...largeData, round: String(i) } });
  }
  watch.resume();
  await watch.ended;
  const last = watch.events.at(-1);
  assert.equal(last?.type, 'ERROR');
  assert.equal(last?.object.code, 410);
  assert.equal(last?.object.reason, 'Expired');
  const seen = watch.events.slice(0, -1);
  assert.ok(seen.length < 25, `${seen.length} of 25 changes were sent`);
  assert.ok(seen.every(({ type }) => type === 'MODIFIED'));
  await api.delete(`${path}/large`);
});

test('a state larger than what a slow watcher may leave is no reason to close', {
  timeout,
}, async () => {
  const { api } = running;
  const path = await newCollection(api);
  for (let i = 0; i < 20; i++) await api.post(path, configMap(`large-${i}`, largeData));
  const watch = await api.watch(`${path}?watch=1`);
  await put(path, 'more');
  await watch.until((events) => events.length >= 21);
  assert.equal(brief(watch.events).at(-1), 'ADDED more');
  watch.close();
  await api.delete(path);
});

test('a watch in the same process ends with its signal', { timeout }, async () => {
  const { server, api } = running;
  const path = await newCollection(api);
  const call = createLocalCall(server.handle, { user: 'me', groups: ['system:masters'] });
  const end = new AbortController();
  const request = { method: 'GET', path: `${path}?watch=1`, signal: end.signal };
  const { status, body } = await call(request);
  assert.equal(status, 200);
  const seen: string[] = [];
  const reading = (async () => {
    for await (const chunk of body) {
      const event = JSON.parse(Buffer.from(chunk).toString('utf8')) as WatchEvent;
      seen.push(...brief([event]));
      end.abort();
    }
  })();
  await put(path, 'a');
  await reading;
  assert.deepEqual(seen, ['ADDED a']);
});
