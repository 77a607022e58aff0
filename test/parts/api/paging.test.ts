// Pages of one list show one revision, whatever is written meanwhile.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ObjectList } from '../harness/api-client.ts';
import { type ConfigMap, configMap, newCollection } from '../harness/config-maps.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const timeout = 60_000;

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

type Page = ObjectList<ConfigMap>;

const page = (path: string, limit: number, token = ''): Promise<Page> =>
  running.api.get(`${path}?limit=${limit}&continue=${encodeURIComponent(token)}`);

async function pages(path: string, limit: number): Promise<readonly Page[]> {
  const all: Page[] = [await page(path, limit)];
  for (let last = all[0]; last?.metadata.continue !== undefined; last = all.at(-1)) {
    all.push(await page(path, limit, last.metadata.continue));
  }
  return all;
}

async function fill(count: number): Promise<string> {
  const path = await newCollection(running.api);
  await Promise.all(
    Array.from({ length: count }, (_, i) =>
      running.api.post(path, configMap(`c-${String(i).padStart(4, '0')}`, { round: '0' })),
    ),
  );
  return path;
}

const named = ({ metadata, data }: ConfigMap): string => `${metadata.name} ${data?.round}`;

test('pages have the limit, what remains, and together everything (KCT-05)', {
  timeout,
}, async () => {
  const path = await fill(10);
  const all = await pages(path, 4);
  assert.deepEqual(
    all.map(({ items, metadata }) => [items.length, metadata.remainingItemCount]),
    [
      [4, 6],
      [4, 2],
      [2, undefined],
    ],
  );
  const whole = await running.api.get<Page>(path);
  assert.deepEqual(
    all.flatMap(({ items }) => items),
    whole.items,
  );
});

test('a limit that everything fits into makes one page', { timeout }, async () => {
  const path = await fill(3);
  for (const limit of [3, 4]) {
    const only = await page(path, limit);
    assert.equal(only.items.length, 3);
    assert.equal(only.metadata.continue, undefined);
  }
});

test('pages of a selection are filled from what is selected', { timeout }, async () => {
  const path = await fill(9);
  await running.api.patch(`${path}/c-0002`, { metadata: { labels: { a: 'b' } } });
  await running.api.patch(`${path}/c-0007`, { metadata: { labels: { a: 'b' } } });
  const selected = `${path}?labelSelector=a%3Db&limit=1`;
  const first = await running.api.get<Page>(selected);
  const token = encodeURIComponent(first.metadata.continue ?? '');
  const second = await running.api.get<Page>(`${selected}&continue=${token}`);
  assert.deepEqual(
    [...first.items, ...second.items].map(({ metadata }) => metadata.name),
    ['c-0002', 'c-0007'],
  );
  assert.equal(first.metadata.remainingItemCount, undefined);
});

test('pages show one revision while others write', { timeout }, async () => {
  const { api } = running;
  const path = await fill(300);
  let isDone = false;
  const writer = async (number: number): Promise<void> => {
    for (let round = 1; !isDone; round++) {
      const name = `c-${String((round * 37 + number * 101) % 300).padStart(4, '0')}`;
      await api.send({ method: 'DELETE', path: `${path}/${name}` });
      await api.send({ method: 'POST', path, body: configMap(name, { round: String(round) }) });
      await api.send({ method: 'POST', path, body: configMap(`d-${number}-${round}`) });
    }
  };
  const writers = Array.from({ length: 4 }, (_, number) => writer(number));
  for (const limit of [7, 50, 120]) {
    const all = await pages(path, limit);
    const versions = new Set(all.map(({ metadata }) => metadata.resourceVersion));
    assert.equal(versions.size, 1);
    const [version] = versions;
    const exact = await api.get<Page>(
      `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`,
    );
    assert.deepEqual(all.flatMap(({ items }) => items).map(named), exact.items.map(named));
  }
  isDone = true;
  await Promise.all(writers);
});

test('a page of a compacted revision is 410 (KCT-05)', { timeout }, async () => {
  const { api, store } = running;
  const path = await fill(5);
  const first = await page(path, 2);
  await api.post(path, configMap('later'));
  await store.compact(await store.currentRevision());
  const token = encodeURIComponent(first.metadata.continue ?? '');
  const { status, body } = await api.send({
    method: 'GET',
    path: `${path}?limit=2&continue=${token}`,
  });
  assert.equal(status, 410);
  assert.equal(body.reason, 'Expired');
  // With the token in the refusal the list goes on at what there is now.
  const rest = await page(path, 10, body.metadata.continue);
  assert.deepEqual(
    rest.items.map(({ metadata }) => metadata.name),
    ['c-0002', 'c-0003', 'c-0004', 'later'],
  );
  const old = await api.send({
    method: 'GET',
    path: `${path}?resourceVersion=${first.metadata.resourceVersion}&resourceVersionMatch=Exact`,
  });
  assert.equal(old.status, 410);
  assert.equal(old.body.message, 'The resourceVersion for the provided list is too old.');
});

test('names outside of ASCII are paged like any other', { timeout }, async () => {
  const { api } = running;
  await api.post('/api/v1/namespaces', { metadata: { name: 'letters' } });
  const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/letters/roles';
  const names = ['a', 'e', 'é', 'z', 'ü', '日'];
  for (const name of names) await api.post(path, { metadata: { name }, rules: [] });
  const all = (await pages(path, 2)).flatMap(({ items }) => items);
  assert.deepEqual(
    all.map(({ metadata }) => metadata.name),
    ['a', 'e', 'z', 'é', 'ü', '日'],
  );
});

test('a get from the future waits for it too', { timeout }, async () => {
  const { api, store } = running;
  const path = await fill(1);
  const next = (await store.currentRevision()) + 1;
  const waiting = api.get<ConfigMap>(`${path}/c-0000?resourceVersion=${next}`);
  await api.patch(`${path}/c-0000`, { data: { round: '1' } });
  assert.equal((await waiting).data?.round, '1');
  assert.equal((await api.get<ConfigMap>(`${path}/c-0000?resourceVersion=1`)).data?.round, '1');
  const { status } = await api.send({
    method: 'GET',
    path: `${path}/c-0000?resourceVersion=${next + 1_000_000}`,
  });
  assert.equal(status, 504);
});

test('a list from the future waits for it, and not for ever', { timeout }, async () => {
  const { api, store } = running;
  const path = await fill(1);
  const next = (await store.currentRevision()) + 1;
  const waiting = api.get<Page>(`${path}?resourceVersion=${next}`);
  await api.post(path, configMap('next'));
  assert.equal((await waiting).items.length, 2);
  const { status, body } = await api.send({
    method: 'GET',
    path: `${path}?resourceVersion=${next + 1_000_000}`,
  });
  assert.equal(status, 504);
  assert.match(body.message ?? '', /^Timeout: Too large resource version: \d+, current: \d+$/);
});
