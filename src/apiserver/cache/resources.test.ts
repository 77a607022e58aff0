import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapDefinition } from '../../kinds/config-map/definition.ts';
import { eventDefinition } from '../../kinds/event/definition.ts';
import { eventsEventDefinition } from '../../kinds/event/events-definition.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import type { KubeObject } from '../../meta/object.ts';
import { openMemoryStore } from '../../storage/backends/memory/store.ts';
import type { Store, StoreEvent } from '../../storage/store.ts';
import type { Change } from './resource-cache.ts';
import { loadResources } from './resources.ts';
import { createCodec } from './stored-object.ts';

const definitions = [
  configMapDefinition,
  serviceDefinition,
  eventDefinition,
  eventsEventDefinition,
];
const codec = createCodec(configMapDefinition);

const configMap = (name: string, value = '1'): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'a', uid: name },
  ...{ data: { value } },
});

async function put(store: Store, object: KubeObject): Promise<number> {
  const { name = '', namespace = '' } = object.metadata;
  const write = [{ put: codec.key(namespace, name), value: codec.toValue(object) }];
  return (await store.transact({ compare: [], write })).revision;
}

async function drop(store: Store, name: string): Promise<number> {
  const write = [{ delete: codec.key('a', name) }];
  return (await store.transact({ compare: [], write })).revision;
}

const brief = (changes: readonly Change[] | undefined): readonly string[] | undefined =>
  changes?.map(
    ({ type, revision, current }) => `${type} ${current.object.metadata.name} ${revision}`,
  );

const open = (): Store => openMemoryStore({ now: () => 0 });

test('loadResources() shows what the store holds', async () => {
  const store = open();
  await put(store, configMap('b'));
  const revision = await put(store, configMap('a'));
  const resources = await loadResources(definitions, store);
  const names = resources.reader.list('configmaps').map((o) => o.metadata.name);
  assert.deepEqual(names, ['a', 'b']);
  assert.equal(resources.revision(), revision);
  assert.equal(resources.reader.get('configmaps', 'a', 'b')?.metadata.name, 'b');
  assert.equal(resources.reader.get('configmaps', 'b', 'b'), undefined);
  assert.deepEqual(resources.reader.list('configmaps', 'nowhere'), []);
  assert.deepEqual(resources.reader.list('unknown'), []);
  assert.equal(resources.reader.revision('configmaps'), revision);
  assert.equal(resources.reader.revision('services'), 0);
});

test('loadResources() reads much in pages that show one revision', async () => {
  const store = open();
  const names = Array.from({ length: 2500 }, (_, n) => `c-${String(n).padStart(4, '0')}`);
  for (const name of names) await put(store, configMap(name));
  const shown: number[] = [];
  let late: Promise<number> | undefined;
  const list: Store['list'] = async (prefix, options) => {
    const page = await store.list(prefix, options);
    shown.push(page.revision);
    late ??= put(store, configMap('c-9999'));
    await late;
    return page;
  };
  const resources = await loadResources(definitions, { ...store, list });
  const found = resources.reader.list('configmaps').map((o) => o.metadata.name);
  assert.deepEqual(found, [...names, 'c-9999']);
  assert.equal(resources.revision(), await late);
  const [first = 0] = shown;
  assert.deepEqual(shown, [first, first, first]);
  const changes = resources.of('configmaps').cache.changesAfter(first);
  assert.deepEqual(brief(changes), [`ADDED c-9999 ${await late}`]);
});

test('loadResources() follows the store before writers are answered', async () => {
  const store = open();
  const resources = await loadResources(definitions, store);
  const seen: string[] = [];
  resources.of('configmaps').cache.subscribe((change) => seen.push(...(brief([change]) ?? [])));
  const made = await put(store, configMap('a'));
  assert.equal(resources.revision(), made);
  assert.equal(resources.reader.get('configmaps', 'a', 'a')?.metadata.resourceVersion, `${made}`);
  const changed = await put(store, configMap('a', '2'));
  const gone = await drop(store, 'a');
  assert.equal(resources.reader.get('configmaps', 'a', 'a'), undefined);
  assert.deepEqual(seen, [`ADDED a ${made}`, `MODIFIED a ${changed}`, `DELETED a ${gone}`]);
});

test('a delete shows the last state under the revision of the delete', async () => {
  const store = open();
  const resources = await loadResources(definitions, store);
  await put(store, configMap('a', 'last'));
  const gone = await drop(store, 'a');
  const [change] = resources.of('configmaps').cache.changesAfter(gone - 1) ?? [];
  assert.equal(change?.current.revision, gone);
  assert.deepEqual(JSON.parse(String(change?.current.json)), {
    ...configMap('a', 'last'),
    metadata: { ...configMap('a').metadata, resourceVersion: `${gone}` },
  });
  assert.equal(change?.previous?.revision, gone - 1);
});

test('after a restart changes from before it are remembered', async () => {
  const store = open();
  const first = await put(store, configMap('a'));
  const second = await put(store, configMap('a', '2'));
  await put(store, configMap('b'));
  await drop(store, 'b');
  const resources = await loadResources(definitions, store);
  const { cache } = resources.of('configmaps');
  assert.deepEqual(brief(cache.changesAfter(first)), [
    `MODIFIED a ${second}`,
    `ADDED b ${second + 1}`,
    `DELETED b ${second + 2}`,
  ]);
  assert.equal(cache.get(codec.key('a', 'a'))?.revision, second);
});

test('after a restart nothing is known from before the compaction', async () => {
  const store = open();
  await put(store, configMap('a'));
  const kept = await put(store, configMap('a', '2'));
  const last = await put(store, configMap('a', '3'));
  await store.compact(kept);
  const { cache } = (await loadResources(definitions, store)).of('configmaps');
  assert.equal(cache.changesAfter(kept - 1), undefined);
  assert.deepEqual(brief(cache.changesAfter(kept)), [`MODIFIED a ${last}`]);
});

test('changes that happen while the past is read come after it', async () => {
  const store = open();
  const first = await put(store, configMap('a'));
  const second = await put(store, configMap('b'));
  let late: Promise<number> | undefined;
  const slow: Store = {
    ...store,
    async *watch(prefix, after, signal) {
      late ??= put(store, configMap('late'));
      await late;
      yield* store.watch(prefix, after, signal);
    },
  };
  const resources = await loadResources(definitions, slow);
  const third = await late;
  const { cache } = resources.of('configmaps');
  assert.deepEqual(brief(cache.changesAfter(first - 1)), [
    `ADDED a ${first}`,
    `ADDED b ${second}`,
    `ADDED late ${third}`,
  ]);
  assert.equal(resources.revision(), third);
  assert.ok(cache.get(codec.key('a', 'late')));
});

test('changes between subscribing and listing are neither lost nor doubled', async () => {
  const store = open();
  await put(store, configMap('a'));
  let during = 0;
  const racing: Store = {
    ...store,
    async list(prefix, options) {
      const listing = await store.list(prefix, options);
      during = await put(store, configMap('b'));
      return listing;
    },
  };
  const events: StoreEvent[] = [];
  const resources = await loadResources(definitions, racing, (batch) => events.push(...batch));
  const { cache } = resources.of('configmaps');
  assert.equal(cache.count(), 2);
  assert.deepEqual(brief(cache.changesAfter(during - 1)), [`ADDED b ${during}`]);
  assert.deepEqual(
    events.map(({ revision }) => revision),
    [during],
  );
});

test('loadResources() ignores keys of unknown resources', async () => {
  const store = open();
  await put(store, configMap('a'));
  const write = [
    { put: '/registry/nodeports/30000', value: Buffer.from('{}') },
    { put: '/other/configmaps/x', value: Buffer.from('no json') },
  ];
  const { revision } = await store.transact({ compare: [], write });
  const last = await store.transact({ compare: [], write: [{ put: 'zzz', value: Buffer.of(1) }] });
  const resources = await loadResources(definitions, store);
  assert.equal(resources.revision(), last.revision);
  assert.deepEqual(resources.of('configmaps').cache.changesAfter(revision - 1), []);
});

test('find() goes by path, of() by stored resource', async () => {
  const resources = await loadResources(definitions, open());
  assert.equal(resources.find('', 'v1', 'services')?.definition, serviceDefinition);
  assert.equal(resources.find('', 'v2', 'services'), undefined);
  assert.equal(resources.find('events.k8s.io', 'v1', 'events')?.definition, eventsEventDefinition);
  assert.equal(resources.of('events').definition, eventDefinition);
  assert.throws(() => resources.of('nonsense'), /Cannot find resource "nonsense"/);
});

test('a kind that is stored as another shows its objects in its own form', async () => {
  const store = open();
  const resources = await loadResources(definitions, store);
  const view = resources.find('events.k8s.io', 'v1', 'events');
  const stored = resources.of('events');
  assert.ok(view);
  assert.equal(view.cache, stored.cache);
  const event = {
    kind: 'Event',
    apiVersion: 'v1',
    metadata: { name: 'e', namespace: 'a' },
    message: 'said',
    involvedObject: { kind: 'Pod', name: 'p' },
    source: {},
    reportingComponent: 'me',
    reportingInstance: '',
  };
  const write = [{ put: stored.codec.key('a', 'e'), value: stored.codec.toValue(event) }];
  const { revision } = await store.transact({ compare: [], write });
  const cached = stored.cache.get(stored.codec.key('a', 'e'));
  assert.ok(cached);
  const seen = JSON.parse(String(view.view(cached).json));
  assert.equal(seen.apiVersion, 'events.k8s.io/v1');
  assert.equal(seen.note, 'said');
  assert.equal(seen.regarding.name, 'p');
  assert.equal(seen.metadata.resourceVersion, `${revision}`);
  assert.equal(view.view(cached), view.view(cached), 'made once');
  assert.equal(stored.view(cached), cached);
});

test('loadResources() refuses a view of what is not there', async () => {
  await assert.rejects(
    loadResources([eventsEventDefinition], open()),
    /the resource that stores it/,
  );
});

test('caughtUp() waits for a revision', async () => {
  const store = open();
  const resources = await loadResources(definitions, store);
  assert.equal(await resources.caughtUp(resources.revision()), true);
  const seen: string[] = [];
  const next = resources.revision() + 2;
  const waited = resources.caughtUp(next).then((reached) => seen.push(`caught up ${reached}`));
  await put(store, configMap('a'));
  seen.push('one');
  await put(store, configMap('b'));
  await waited;
  assert.deepEqual(seen, ['one', 'caught up true']);
});

test('caughtUp() stops waiting when its signal aborts', async () => {
  const resources = await loadResources(definitions, open());
  const end = new AbortController();
  const waited = resources.caughtUp(resources.revision() + 1_000, end.signal);
  end.abort();
  assert.equal(await waited, false);
});

test('caughtUp() does not wait for a signal that is already aborted', async () => {
  const resources = await loadResources(definitions, open());
  const wanted = resources.revision() + 1_000;
  const waited = resources.caughtUp(wanted, AbortSignal.abort());
  // Whatever else is ready comes first: a promise that never resolves fails here instead of hanging.
  const later = new Promise((resolve) => setImmediate(resolve, 'still waiting'));
  assert.equal(await Promise.race([waited, later]), false);
  assert.equal(await resources.caughtUp(resources.revision(), AbortSignal.abort()), true);
});

test('forgetHistory() makes all that was too old', async () => {
  const store = open();
  const first = await put(store, configMap('a'));
  const resources = await loadResources(definitions, store);
  const second = await put(store, configMap('a', '2'));
  resources.forgetHistory();
  const { cache } = resources.of('configmaps');
  assert.equal(cache.changesAfter(first), undefined);
  assert.deepEqual(cache.changesAfter(second), []);
});
