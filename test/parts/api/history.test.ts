// The history of objects: what it says is what happened, across restarts, and only to those who may read the objects.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseEncryptionConfig } from '../../../src/apiserver/encryption/config.ts';
import { createTransformers } from '../../../src/apiserver/encryption/transformer.ts';
import type { HistoryOptions } from '../../../src/apiserver/history/start-history.ts';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { openMemoryStore } from '../../../src/storage/backends/memory/store.ts';
import type { Store } from '../../../src/storage/store.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import { chooseSeed, createRandom } from '../harness/random.ts';

const limit = { timeout: 60_000 };
const start = Date.parse('2026-01-01T00:00:00Z');
const root = '/apis/history.fairlead.dev/v1alpha1';
const services = '/api/v1/namespaces/default/services';

type Item = {
  readonly resourceVersion: string;
  readonly time: string;
  readonly type: string;
  readonly user?: string;
  readonly manager?: string;
  readonly object: KubeObject & { readonly spec: { readonly selector?: object } };
};
type Changes = {
  readonly metadata: { readonly continue?: string };
  readonly since: { readonly time: string; readonly resourceVersion: string };
  readonly items: readonly Item[];
};
type Past = {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly KubeObject[];
};

type World = {
  readonly directory: string;
  readonly store: Store;
  timeMs: number;
  server: MemoryServer;
  /** Another process on what this one left. */
  restart: (options?: Partial<HistoryOptions>, meanwhile?: () => void) => Promise<void>;
};

async function open(t: TestContext, options: Partial<HistoryOptions> = {}): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-history-'));
  const clock = { now: () => world.timeMs };
  const memory = openMemoryStore(clock);
  // A server that ends closes its store.
  const store = { ...memory, close: () => Promise.resolve() };
  const serve = (more: Partial<HistoryOptions>): Promise<MemoryServer> =>
    startMemoryServer({
      store,
      clock,
      access: {
        history: { directory, retentionMs: 3_600_000, maxBytes: 1 << 26, ...options, ...more },
      },
    });
  const world = { directory, store, timeMs: start } as World;
  world.server = await serve({});
  world.restart = async (more = {}, meanwhile = () => {}) => {
    await world.server.stop();
    meanwhile();
    world.server = await serve(more);
  };
  t.after(async () => {
    await world.server.stop();
    await memory.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return world;
}

const service = (name: string, app: string) => ({
  metadata: { name },
  spec: { selector: { app }, ports: [{ port: 80 }] },
});

const summary = ({ items }: Changes) =>
  items.map(({ type, object }) => `${type} ${JSON.stringify(object.spec.selector)}`);

test('history says what happened to an object, when and by whom', limit, async (t) => {
  const world = await open(t);
  const { api } = world.server;
  await api.post(services, service('web', 'one'));
  world.timeMs += 60_000;
  await api.patch(`${services}/web`, { spec: { selector: { app: 'two' } } });
  world.timeMs += 60_000;
  await api.delete(`${services}/web`);
  world.timeMs += 60_000;
  await api.post(services, service('web', 'three'));
  const read = (query = '') => api.get<Changes>(`${root}/namespaces/default/services/web${query}`);
  const all = await read();
  const expected = [
    'Created {"app":"three"}',
    'Deleted {"app":"two"}',
    'Updated {"app":"two"}',
    'Created {"app":"one"}',
  ];
  assert.deepEqual(summary(all), expected);
  assert.deepEqual(
    all.items.map(({ time, user }) => `${time} ${user}`),
    [3, 2, 1, 0].map((minute) => `2026-01-01T00:0${minute}:00.000000Z kubernetes-admin`),
  );
  assert.equal(all.items.at(-1)?.manager, 'unknown');
  assert.equal('managedFields' in (all.items[0]?.object.metadata ?? {}), false);
  assert.deepEqual(summary(await read('?sinceTime=2026-01-01T00:02:00Z')), expected.slice(0, 2));
  const first = await read('?limit=3');
  const second = await read(`?limit=3&continue=${first.metadata.continue}`);
  assert.deepEqual([...summary(first), ...summary(second)], expected);
  assert.equal(second.metadata.continue, undefined);
  await world.restart();
  const again = await world.server.api.get<Changes>(`${root}/namespaces/default/services/web`);
  assert.deepEqual(again, all);
});

test('history shows every state that there was, also after restarts', limit, async (t) => {
  const world = await open(t);
  const random = createRandom(chooseSeed());
  const states: { readonly revision: string; readonly items: readonly KubeObject[] }[] = [];
  for (let step = 0; step < 120; step += 1) {
    const { api } = world.server;
    const name = `s-${random.below(5)}`;
    const path = `${services}/${name}`;
    world.timeMs += 1_000;
    if ((await api.send({ method: 'GET', path })).status === 404)
      await api.post(services, service(name, `a-${step}`));
    else if (random.below(4) === 0) await api.delete(path);
    else await api.patch(path, { spec: { selector: { app: `a-${step}` } } });
    const { metadata, items } = await api.get<{
      metadata: { resourceVersion: string };
      items: readonly KubeObject[];
    }>(services);
    states.push({ revision: metadata.resourceVersion, items });
    if (step % 40 === 39) await world.restart();
  }
  const shown = (items: readonly KubeObject[]) =>
    items.map(({ kind: _kind, apiVersion: _version, metadata, ...rest }) => {
      const { managedFields: _managers, ...own } = metadata;
      return { ...rest, metadata: own };
    });
  for (const [step, { revision, items }] of states.entries()) {
    const past = `${root}/namespaces/default/services`;
    const { api } = world.server;
    const byRevision = await api.get<Past>(`${past}?revision=${revision}`);
    assert.deepEqual(shown(byRevision.items), shown(items), `step ${step}`);
    const at = new Date(start + (step + 1) * 1_000).toISOString();
    const byTime = await api.get<Past>(`${past}?at=${at}`);
    assert.deepEqual(shown(byTime.items), shown(items), `step ${step} by time`);
  }
});

function fileOf({ directory }: World): string {
  const names = readdirSync(directory).filter((name) => name.endsWith('.history'));
  return join(directory, names.at(-1) ?? '');
}

test('history is lost with a kill only where the store has forgotten it too', limit, async (t) => {
  const world = await open(t);
  const { api } = world.server;
  await api.post(services, service('web', 'one'));
  await world.restart();
  const file = fileOf(world);
  const length = statSync(file).size;
  await world.server.api.patch(`${services}/web`, { spec: { selector: { app: 'two' } } });
  // As if the process had been killed while it wrote its last frame.
  await world.restart({}, () => {
    const bytes = readFileSync(file);
    assert.ok(bytes.length > length);
    writeFileSync(file, bytes.subarray(0, -7));
  });
  const all = await world.server.api.get<Changes>(`${root}/namespaces/default/services/web`);
  assert.deepEqual(summary(all), ['Updated {"app":"two"}', 'Created {"app":"one"}']);
  // And as if it had not come to that.
  await world.restart({}, () => writeFileSync(file, readFileSync(file).subarray(0, length)));
  const again = await world.server.api.get<Changes>(`${root}/namespaces/default/services/web`);
  assert.deepEqual(summary(again), summary(all));
});

test('history is whole after a kill before anything was recorded', limit, async (t) => {
  const world = await open(t);
  const { api } = world.server;
  await api.post(services, service('web', 'one'));
  await api.patch(`${services}/web`, { spec: { selector: { app: 'two' } } });
  const { since } = await api.get<Changes>(`${root}/namespaces/default/services/web`);
  const file = fileOf(world);
  const bytes = readFileSync(file);
  await world.restart({}, () => writeFileSync(file, bytes));
  const all = await world.server.api.get<Changes>(`${root}/namespaces/default/services/web`);
  assert.deepEqual(summary(all), ['Updated {"app":"two"}', 'Created {"app":"one"}']);
  assert.deepEqual(all.since, since);
});

test(
  'history that is damaged, foreign or gone begins anew, and the server works',
  limit,
  async (t) => {
    const world = await open(t);
    await world.server.api.post(services, service('web', 'one'));
    await world.restart();
    const file = fileOf(world);
    const bytes = readFileSync(file);
    for (const damaged of [
      Buffer.alloc(0),
      Buffer.from('{"format":1,"cluster":"another"}\n'),
      bytes.map((byte, at) => (at > 200 ? byte ^ 1 : byte)),
      Buffer.alloc(bytes.length),
    ]) {
      await world.restart({}, () => writeFileSync(file, damaged));
      const answer = await world.server.api.send<Changes>({
        method: 'GET',
        path: `${root}/namespaces/default/services/web`,
      });
      assert.equal(answer.status, 200);
    }
  },
);

test('history has one sentence for every time it cannot show', limit, async (t) => {
  const world = await open(t);
  const { api } = world.server;
  world.timeMs += 60_000;
  await api.post(services, service('web', 'one'));
  const past = async (query: string, path = 'namespaces/default/services') => {
    const { status, body } = await api.send({ method: 'GET', path: `${root}/${path}?${query}` });
    return `${status} ${body.message}`;
  };
  assert.equal(
    await past('at=2025-12-31T23:00:00Z'),
    `410 history is kept since 2026-01-01T00:00:00.000000Z, resource version ${(await api.get<Changes>(`${root}/namespaces/default/services`)).since.resourceVersion}`,
  );
  assert.equal(
    await past('at=2027-01-01T00:00:00Z'),
    '400 at: 2027-01-01T00:00:00Z is in the future',
  );
  assert.equal(await past('at=yesterday'), '400 at: "yesterday" is not an RFC 3339 time');
  assert.match(await past('', 'namespaces/default/secrets'), /^404/);
  assert.match(await past('', 'namespaces/default/services/web/status'), /^404/);
  assert.equal(
    await past('at=2026-01-01T00:00:30Z', 'namespaces/default/services/web'),
    '404 services "web" not found',
  );
  const written = await api.send({ method: 'DELETE', path: `${root}/namespaces/default/services` });
  assert.equal(written.status, 405);
});

test('history goes on when the clock is set back', limit, async (t) => {
  const world = await open(t);
  const { api } = world.server;
  await api.post(services, service('web', 'one'));
  world.timeMs -= 600_000;
  await api.patch(`${services}/web`, { spec: { selector: { app: 'two' } } });
  const all = await api.get<Changes>(`${root}/namespaces/default/services/web`);
  assert.deepEqual(summary(all), ['Updated {"app":"two"}', 'Created {"app":"one"}']);
  const past = await api.get<Past>(`${root}/namespaces/default/services?at=2025-12-31T23:50:00Z`);
  assert.equal(past.items.length, 2);
});

test('reading the history of an object takes the right to get the object', limit, async (t) => {
  const world = await open(t);
  const { api, server } = world.server;
  await api.post(services, service('web', 'one'));
  const rules = [
    { apiGroups: [''], resources: ['services'], resourceNames: ['web'], verbs: ['get'] },
  ];
  await api.post('/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', {
    metadata: { name: 'reader' },
    rules,
  });
  await api.post('/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
  });
  const send = createLocalCall(server.handle, { user: 'eve', groups: ['system:authenticated'] });
  const status = async (path: string) =>
    (await send({ method: 'GET', path: `${root}/namespaces/default/${path}`, headers: {} })).status;
  assert.equal(await status('services/web'), 200);
  assert.equal(await status('services/kubernetes'), 403);
  assert.equal(await status('services'), 403);
  assert.equal(await status('services?fieldSelector=metadata.name=web'), 403);
  assert.equal(await status('pods/web'), 403);
  assert.equal(await status('secrets/web'), 403);
});

test('history is as encrypted as the objects', limit, async (t) => {
  for (const provider of ['aescbc', 'aesgcm', 'secretbox']) {
    const config = (name: string, key: string): string => `
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
  - resources: [services]
    providers:
      - ${provider}: {keys: [{name: ${name}, secret: ${Buffer.from(key.repeat(32)).toString('base64')}}]}
`;
    const transformerOf = createTransformers(parseEncryptionConfig(config('k', 'a'), 'config'));
    const world = await open(t, { transformerOf });
    await world.server.api.post(services, service('web', 'one'));
    await world.server.api.patch(`${services}/web`, { spec: { selector: { app: 'two' } } });
    await world.restart();
    const names = readdirSync(world.directory).filter((file) => file.endsWith('.history'));
    const text = names.map((file) => readFileSync(join(world.directory, file), 'latin1')).join('');
    assert.ok(text.includes(`k8s:enc:${provider}:v1:k:`));
    const read = () => world.server.api.get<Changes>(`${root}/namespaces/default/services/web`);
    assert.equal((await read()).items.length, 2);
    await world.restart({
      transformerOf: createTransformers(parseEncryptionConfig(config('k', 'b'), 'config')),
    });
    const { items, since } = await read();
    assert.equal(items.length, 0, 'with another key nothing is shown');
    assert.ok(Number(since.resourceVersion) > 0);
  }
});

test('history stays within its bytes, oldest first', limit, async (t) => {
  const maxBytes = 1 << 20;
  const world = await open(t, { maxBytes });
  const random = createRandom(chooseSeed());
  const noise = () =>
    Array.from({ length: 40_000 }, () => String.fromCharCode(97 + random.below(26))).join('');
  await world.server.api.post(services, service('web', 'one'));
  for (let round = 0; round < 12; round += 1) {
    for (let n = 0; n < 8; n += 1)
      await world.server.api.patch(`${services}/web`, {
        metadata: { annotations: { noise: noise() } },
      });
    world.timeMs += 1_000;
    await world.restart();
  }
  const sizes = readdirSync(world.directory).map(
    (name) => statSync(join(world.directory, name)).size,
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(total <= maxBytes, `${total} bytes`);
  const { items, since } = await world.server.api.get<Changes>(
    `${root}/namespaces/default/services/web?limit=2000`,
  );
  assert.ok(items.length > 10 && items.length < 97, `${items.length} changes`);
  assert.ok(Date.parse(since.time) > start);
});

test('a server that keeps no history says so', limit, async (t) => {
  const server = await startMemoryServer();
  t.after(server.stop);
  const { status, body } = await server.api.send({ method: 'GET', path: `${root}/nodes` });
  assert.equal(`${status} ${body.message}`, '410 history is not kept: --history-retention is 0');
});

test('history says what time it is there, also to who knows no time', limit, async (t) => {
  const world = await open(t);
  const { api } = world.server;
  await api.post(services, service('web', 'one'));
  await world.restart();
  world.timeMs += 60_000;
  const path = `${root}/namespaces/default/services/web?sinceTime=9999-01-01T00:00:00Z`;
  const { now, since, items } = await world.server.api.get<Changes & { readonly now: string }>(
    path,
  );
  assert.deepEqual([now, items], ['2026-01-01T00:01:00.000000Z', []]);
  assert.equal(since.time, '2026-01-01T00:00:00.000000Z');
});
