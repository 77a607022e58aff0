// Several API servers on one etcd: any may be used, and none allocates what another has allocated.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { makeSigningKey } from '../../../src/apiserver/tokens/signing-key.ts';
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import type { Endpoints } from '../../../src/kinds/endpoints/types.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { createEtcdClient } from '../../../src/storage/backends/etcd/client.ts';
import { openEtcdStore } from '../../../src/storage/backends/etcd/store.ts';
import type { Store } from '../../../src/storage/store.ts';
import { type ObjectList, openApiClient } from '../harness/api-client.ts';
import {
  type MemoryServer,
  type MemoryServerOptions,
  startMemoryServer,
  testCredentials,
} from '../harness/memory-server.ts';
import { etcdMissing, type RunningEtcd, startEtcd } from '../harness/running-etcd.ts';
import { openCutLine } from '../harness/severable-link.ts';

const skip = etcdMissing() ?? false;
const maps = '/api/v1/namespaces/default/configmaps';
const services = '/api/v1/namespaces/default/services';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const now = (): number => Date.now();

type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };
const named = (name: string, value = '') => ({ metadata: { name }, data: { value } });

let etcd: RunningEtcd;
let cases = 0;
let running: MemoryServer[] = [];
before(async () => {
  if (skip === false) etcd = await startEtcd();
});
after(async () => {
  if (skip === false) await etcd.stop();
});
afterEach(async () => {
  for (const server of running) await server.stop();
  running = [];
});

const newPrefix = (): string => {
  cases += 1;
  return `/case-${cases}`;
};

const openStore = (prefix: string, url = etcd.url): Promise<Store> =>
  openEtcdStore({ endpoints: [url], prefix, now });

async function start(
  prefix: string,
  options: MemoryServerOptions & { readonly url?: string } = {},
): Promise<MemoryServer> {
  const store = await openStore(prefix, options.url);
  const server = await startMemoryServer({
    advertiseAddress: `192.0.2.${running.length + 1}`,
    ...options,
    store,
  });
  running.push(server);
  return server;
}

test('what one server acknowledged, the other shows at once', { skip }, async () => {
  const prefix = newPrefix();
  const [one, two] = await Promise.all([start(prefix), start(prefix)]);
  for (let n = 0; n < 60; n += 1) {
    const [here, there] = n % 2 === 0 ? [one.api, two.api] : [two.api, one.api];
    const name = `m-${n}`;
    await here.post(maps, named(name, 'a'));
    assert.equal((await there.get<ConfigMap>(`${maps}/${name}`)).data?.value, 'a');
    const changed = await there.patch<ConfigMap>(`${maps}/${name}`, { data: { value: 'b' } });
    const list = await here.get<ObjectList<ConfigMap>>(maps);
    const found = list.items.find(({ metadata }) => metadata.name === name);
    assert.equal(found?.data?.value, 'b');
    assert.ok(Number(list.metadata.resourceVersion) >= Number(changed.metadata.resourceVersion));
    // The version that the other server gave must not be a conflict here.
    await here.put(`${maps}/${name}`, { ...changed, data: { value: 'c' } });
    await there.delete(`${maps}/${name}`);
    assert.equal((await here.send({ method: 'GET', path: `${maps}/${name}` })).status, 404);
    await here.post(maps, named(name, 'again'));
  }
});

test('a namespace of one server can be used on the other at once', { skip }, async () => {
  const prefix = newPrefix();
  const [one, two] = await Promise.all([start(prefix), start(prefix)]);
  for (let n = 0; n < 20; n += 1) {
    await one.api.post('/api/v1/namespaces', { metadata: { name: `team-${n}` } });
    await two.api.post(`/api/v1/namespaces/team-${n}/configmaps`, named('first'));
  }
});

test('a watch on one server shows the writes of all, in one order', { skip }, async () => {
  const prefix = newPrefix();
  const [one, two] = await Promise.all([start(prefix), start(prefix)]);
  const { metadata } = await one.api.get<ObjectList>(maps);
  const path = `${maps}?watch=true&resourceVersion=${metadata.resourceVersion}`;
  const watches = await Promise.all([one, two].map(({ api }) => api.watch<ConfigMap>(path)));
  const count = 40;
  await Promise.all(
    Array.from({ length: count }, (_, n) =>
      (n % 2 === 0 ? one : two).api.post(maps, named(`w-${n}`)),
    ),
  );
  for (const watch of watches) await watch.until((events) => events.length >= count);
  const [ofOne, ofTwo] = watches.map(({ events }) =>
    events.map(({ object }) => Number(object.metadata.resourceVersion)),
  );
  assert.deepEqual(ofOne, ofTwo);
  assert.deepEqual(
    ofOne,
    [...new Set(ofOne)].sort((a, b) => a - b),
  );
  for (const watch of watches) watch.close();
});

test('versions of one server mean the same on the other', { skip }, async () => {
  const prefix = newPrefix();
  const [one, two] = await Promise.all([start(prefix), start(prefix)]);
  const first = await one.api.post(maps, named('v', 'first'));
  const version = first.metadata.resourceVersion;
  await one.api.patch(`${maps}/v`, { data: { value: 'second' } });
  const exact = await two.api.get<ObjectList<ConfigMap>>(
    `${maps}?resourceVersion=${version}&resourceVersionMatch=Exact`,
  );
  const shown = exact.items.find(({ metadata }) => metadata.name === 'v');
  assert.equal(shown?.data?.value, 'first');
  const newest = await one.api.get<ObjectList>(maps);
  const notOlder = await two.api.get<ObjectList>(
    `${maps}?resourceVersionMatch=NotOlderThan&resourceVersion=${newest.metadata.resourceVersion}`,
  );
  assert.ok(Number(notOlder.metadata.resourceVersion) >= Number(newest.metadata.resourceVersion));
  // What no server has given out yet is waited for, and not for ever.
  const future = await two.api.send<Status>({
    method: 'GET',
    path: `${maps}?resourceVersionMatch=NotOlderThan&resourceVersion=${Number(version) + 10_000}`,
  });
  assert.equal(future.status, 504);
});

test('no address and no node port is given twice, and all of them are given', {
  skip,
}, async () => {
  const prefix = newPrefix();
  // 14 addresses, of which the kubernetes Service has one; 13 ports.
  const range = { serviceCidrs: '10.96.0.0/28', nodePorts: '30000-30012' };
  const [one, two] = await Promise.all([start(prefix, range), start(prefix, range)]);
  for (let round = 0; round < 3; round += 1) {
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, (_, n) =>
        createService([one, two][n % 2] ?? one, `s-${round}-${n}`),
      ),
    );
    const made = outcomes.filter((outcome) => outcome !== undefined);
    assert.equal(made.length, 13);
    const { items } = await two.api.get<ObjectList<Service>>(services);
    const given = items.filter(({ metadata }) => metadata.name !== 'kubernetes');
    assert.equal(new Set(given.map(({ spec }) => spec.clusterIP)).size, 13);
    assert.equal(new Set(given.map(({ spec }) => spec.ports?.[0]?.nodePort)).size, 13);
    await Promise.all(
      given.map(({ metadata }, n) =>
        ([one, two][n % 2] ?? one).api.delete(`${services}/${metadata.name}`),
      ),
    );
  }
});

test('tokens and certificates of one server are good at the other', { skip }, async () => {
  const prefix = newPrefix();
  const access = { tokens: { signingKey: makeSigningKey() } };
  const [one, two] = await Promise.all([start(prefix, { access }), start(prefix, { access })]);
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await one.api.post(accounts, { metadata: { name: 'robot' } });
  type Token = KubeObject & { readonly status: { readonly token: string } };
  const { status } = await one.api.post<Token>(`${accounts}/robot/token`, { spec: {} });
  const { authority } = testCredentials();
  const { port } = two.server.address;
  const robot = await openApiClient({ port, ca: authority.certificate });
  const review = await robot.send<KubeObject & { readonly status: unknown }>({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    headers: { authorization: `Bearer ${status.token}` },
    body: {},
  });
  assert.equal(review.status, 201);
  assert.match(JSON.stringify(review.body.status), /system:serviceaccount:default:robot/);
  robot.close();
});

test('the kubernetes Service leads to all servers, and no longer to one that ended', {
  skip,
}, async () => {
  const prefix = newPrefix();
  const one = await start(prefix);
  const two = await start(prefix, { advertiseAddress: '192.0.2.9' });
  assert.deepEqual(
    await ledTo(one),
    [endpointOf('192.0.2.1', one), endpointOf('192.0.2.9', two)].sort(),
  );
  await two.stop();
  running = [one];
  assert.deepEqual(await ledTo(one), [endpointOf('192.0.2.1', one)]);
});

test('a server that starts beside another changes only what is its own', { skip }, async () => {
  const prefix = newPrefix();
  await Promise.all([start(prefix), start(prefix), start(prefix)]);
  const store = await openStore(prefix);
  const before = await store.currentRevision();
  await start(prefix);
  const end = await store.currentRevision();
  const changed = new Set<string>();
  for await (const events of store.watch('/', before, AbortSignal.timeout(20_000))) {
    for (const { key } of events) changed.add(key.replace(/[^/]*:[0-9]+$/, 'SERVER'));
    if ((events.at(-1)?.revision ?? 0) >= end) break;
  }
  await store.close();
  const own = /^\/(start|compact_rev_key|masterleases\/SERVER)$|\/default\/kubernetes[^/]*$/;
  assert.deepEqual(
    [...changed].filter((key) => !own.test(key)),
    [],
  );
});

test('reads go on while others write to the same etcd under their own prefix', {
  skip,
}, async () => {
  const prefix = newPrefix();
  const [one, two] = await Promise.all([start(prefix), start(prefix)]);
  const other = createEtcdClient({ endpoints: [etcd.url] });
  for (let n = 0; n < 10; n += 1) {
    const put = { kind: 'put', key: `${prefix}x`, value: Buffer.from('x'), lease: 0 } as const;
    const { revision } = await other.transact({ compare: [], success: [put], failure: [] });
    await one.api.post(maps, named(`o-${n}`));
    await other.transact({ compare: [], success: [put], failure: [] });
    const list = await two.api.get<ObjectList>(maps);
    assert.equal(
      list.items.filter(({ metadata }) => metadata.name?.startsWith('o-')).length,
      n + 1,
    );
    assert.ok(Number(list.metadata.resourceVersion) > revision);
  }
  other.close();
});

test('what etcd does not take in one piece is refused as such', { skip }, async () => {
  const store = await openStore(newPrefix());
  const put = { put: '/large', value: Buffer.alloc(2 << 20) };
  await assert.rejects(store.transact({ compare: [], write: [put] }), { reason: 'large' });
  assert.equal(await store.get('/large'), undefined);
  await store.close();
});

test('a server that missed what was compacted ends its watches with 410 and goes on', {
  skip,
}, async () => {
  const prefix = newPrefix();
  const line = await openCutLine(etcd.url);
  const one = await start(prefix);
  const two = await start(prefix, { url: line.url });
  await one.api.post(maps, named('stays', 'old'));
  await one.api.post(maps, named('goes'));
  const { metadata } = await two.api.get<ObjectList>(maps);
  const path = `${maps}?watch=true&resourceVersion=${metadata.resourceVersion}`;
  const watch = await two.api.watch<Status & KubeObject>(path);
  line.cut();
  await one.api.delete(`${maps}/goes`);
  await one.api.patch(`${maps}/stays`, { data: { value: 'new' } });
  await one.api.post(maps, named('comes'));
  await one.store.compact(await one.store.currentRevision());
  line.mend();
  await watch.until((events) => events.some(({ type }) => type === 'ERROR'));
  assert.equal(watch.events.at(-1)?.object.code, 410);
  const { items } = await two.api.get<ObjectList<ConfigMap>>(maps);
  const values = items.map(({ metadata: { name }, data }) => `${name}=${data?.value}`);
  assert.deepEqual(
    values.filter((text) => !text.startsWith('kube-root-ca')),
    ['comes=', 'stays=new'],
  );
  await two.api.post(maps, named('after'));
  assert.equal((await one.api.get(`${maps}/after`)).metadata.name, 'after');
  line.close();
  // Whether it can still hand over its lease depends on the moment at which etcd was cut off.
  await two.stop().catch(() => {});
  running = [one];
});

test('etcd comes back: writes fail meanwhile, watches miss nothing and repeat nothing', {
  skip,
}, async () => {
  const prefix = newPrefix();
  const [one, two] = await Promise.all([start(prefix), start(prefix)]);
  const { metadata } = await two.api.get<ObjectList>(maps);
  const path = `${maps}?watch=true&resourceVersion=${metadata.resourceVersion}`;
  const watch = await two.api.watch<ConfigMap>(path);
  await one.api.post(maps, named('r-0'));
  const [member] = etcd.members;
  await member?.kill();
  const refused = await one.api.send({ method: 'POST', path: maps, body: named('lost') });
  assert.equal(refused.status, 503);
  const ready = await one.api.send({ method: 'GET', path: '/readyz' });
  assert.equal(ready.status, 500);
  await member?.start();
  await until(async () => (await one.api.send({ method: 'GET', path: '/readyz' })).status === 200);
  await one.api.post(maps, named('r-1'));
  await watch.until((events) => events.some(({ object }) => object.metadata.name === 'r-1'));
  const names = watch.events.map(({ type, object }) => `${type} ${object.metadata.name}`);
  assert.deepEqual(names, ['ADDED r-0', 'ADDED r-1']);
  watch.close();
});

const endpointOf = (address: string, { server }: MemoryServer): string =>
  `${address}:${server.address.port}`;

async function ledTo({ api }: MemoryServer): Promise<readonly string[]> {
  const { subsets = [] } = await api.get<Endpoints>(
    '/api/v1/namespaces/default/endpoints/kubernetes',
  );
  const ofEndpoints = subsets.flatMap(({ addresses = [], ports = [] }) =>
    addresses.flatMap(({ ip }) => ports.map(({ port }) => `${ip}:${port}`)),
  );
  const { items } = await api.get<ObjectList<EndpointSlice>>(slices);
  const ofSlices = items.flatMap(({ endpoints, ports }) =>
    (endpoints ?? []).flatMap(({ addresses }) =>
      (addresses ?? []).flatMap((ip) => (ports ?? []).map(({ port }) => `${ip}:${port}`)),
    ),
  );
  assert.deepEqual([...ofSlices].sort(), [...ofEndpoints].sort());
  return [...ofSlices].sort();
}

/** As a client that tries again when it lost every race; undefined when there is nothing left to give. */
async function createService({ api }: MemoryServer, name: string): Promise<Service | undefined> {
  for (;;) {
    const { status, body } = await api.send<Service & Status>({
      method: 'POST',
      path: services,
      body: { metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80 }] } },
    });
    if (status === 201) return body;
    if (status === 503) continue;
    assert.match(body.message ?? '', /range is full/);
    return undefined;
  }
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}
