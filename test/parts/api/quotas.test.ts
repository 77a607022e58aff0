// Quotas and limits as clients meet them, and what many at once can take of a quota.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Status } from '../../../src/meta/api-error.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

let server: MemoryServer;

before(async () => {
  server = await startMemoryServer();
});
after(() => server.stop());

type Quota = KubeObject & { readonly status: { readonly used?: Record<string, string> } };

/** A namespace with a quota that has been counted. */
async function namespaceWith(name: string, hard: Record<string, string>): Promise<string> {
  const { api } = server;
  await api.post('/api/v1/namespaces', { metadata: { name } });
  const ns = `/api/v1/namespaces/${name}`;
  await api.post(`${ns}/serviceaccounts`, { metadata: { name: 'default' } });
  await api.post(`${ns}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard } });
  const used = Object.fromEntries(Object.keys(hard).map((key) => [key, '0']));
  await api.patch(`${ns}/resourcequotas/q/status`, { status: { hard, used } });
  return ns;
}

const usedOf = async (ns: string): Promise<Record<string, string>> =>
  (await server.api.get<Quota>(`${ns}/resourcequotas/q`)).status.used ?? {};

async function refusalOf(write: Promise<unknown>): Promise<string | undefined> {
  try {
    await write;
    return undefined;
  } catch (error) {
    // The client of the harness quotes the answer: `POST /path: 403 {...}`.
    const text = error instanceof Error ? error.message : '';
    const [, status] = /: 403 (\{.*)$/.exec(text) ?? [];
    if (status === undefined) throw error;
    return (JSON.parse(status) as Status).message;
  }
}

const pod = (name: string, resources: object = {}) => ({
  metadata: { name },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i', resources }] },
});

test('64 creates at once take no more of a quota than it has', async () => {
  const ns = await namespaceWith('crowded', { 'count/configmaps': '10' });
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, index) =>
      refusalOf(server.api.post(`${ns}/configmaps`, { metadata: { name: `m${index}` } })),
    ),
  );
  const refused = answers.filter((answer) => answer !== undefined);
  assert.equal(refused.length, 54);
  assert.match(
    refused[0] ?? '',
    /exceeded quota: q, requested: count\/configmaps=1, used: count\/configmaps=10, limited: count\/configmaps=10$/,
  );
  assert.deepEqual(await usedOf(ns), { 'count/configmaps': '10' });
});

test('deletes at once give back all that they held, and creates beside them get it', async () => {
  const ns = await namespaceWith('moving', { 'count/configmaps': '30' });
  const make = (name: string) => server.api.post(`${ns}/configmaps`, { metadata: { name } });
  await Promise.all(Array.from({ length: 30 }, (_, index) => make(`old${index}`)));
  await Promise.all([
    ...Array.from({ length: 30 }, (_, index) => server.api.delete(`${ns}/configmaps/old${index}`)),
    ...Array.from({ length: 30 }, (_, index) => refusalOf(make(`new${index}`))),
  ]);
  const { items } = await server.api.get<{ items: readonly object[] }>(`${ns}/configmaps`);
  assert.deepEqual(await usedOf(ns), { 'count/configmaps': String(items.length) });
});

test('a pod counts until it has finished', async () => {
  const ns = await namespaceWith('finishing', { pods: '1', 'count/pods': '5' });
  await server.api.post(`${ns}/pods`, pod('a'));
  assert.match(
    (await refusalOf(server.api.post(`${ns}/pods`, pod('b')))) ?? '',
    /exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1$/,
  );
  await server.api.patch(`${ns}/pods/a/status`, { status: { phase: 'Succeeded' } });
  assert.deepEqual(await usedOf(ns), { pods: '0', 'count/pods': '1' });
  await server.api.post(`${ns}/pods`, pod('b'));
  assert.deepEqual(await usedOf(ns), { pods: '1', 'count/pods': '2' });
});

test('a dry run is judged, and takes nothing', async () => {
  const ns = await namespaceWith('trying', { 'count/configmaps': '1' });
  const path = `${ns}/configmaps`;
  await server.api.post(`${path}?dryRun=All`, { metadata: { name: 'm' } });
  assert.deepEqual(await usedOf(ns), { 'count/configmaps': '0' });
  await server.api.post(path, { metadata: { name: 'm' } });
  const why = await refusalOf(server.api.post(`${path}?dryRun=All`, { metadata: { name: 'n' } }));
  assert.match(why ?? '', /exceeded quota/);
});

test('a quota whose use is not known yet lets nothing through that it limits', async () => {
  const ns = await namespaceWith('unknown', { pods: '5' });
  await server.api.patch(`${ns}/resourcequotas/q/status`, { status: { used: null } });
  assert.match(
    (await refusalOf(server.api.post(`${ns}/pods`, pod('a')))) ?? '',
    /status unknown for quota: q, resources: pods$/,
  );
});

test('storage counts by class, and as claims grow', async () => {
  const name = 'gold.storageclass.storage.k8s.io/requests.storage';
  const ns = await namespaceWith('storing', { [name]: '5Gi', 'requests.storage': '9Gi' });
  const { api } = server;
  await api.post('/apis/storage.k8s.io/v1/storageclasses', {
    ...{ metadata: { name: 'gold' }, provisioner: 'x.example/p', allowVolumeExpansion: true },
  });
  const claim = `${ns}/persistentvolumeclaims/c`;
  const sized = (storage: string) => ({ resources: { requests: { storage } } });
  await api.post(`${ns}/persistentvolumeclaims`, {
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'gold', ...sized('3Gi') },
  });
  await api.patch(`${claim}/status`, { status: { phase: 'Bound', capacity: { storage: '3Gi' } } });
  assert.match(
    (await refusalOf(api.patch(claim, { spec: sized('6Gi') }))) ?? '',
    /exceeded quota: q, requested: gold\S+=3Gi, used: gold\S+=3Gi, limited: gold\S+=5Gi$/,
  );
  await api.patch(claim, { spec: sized('4Gi') });
  assert.deepEqual(await usedOf(ns), { [name]: '4Gi', 'requests.storage': '4Gi' });
});

test('limits of pods, minima and ratios are upheld in upstream’s words', async () => {
  const { api } = server;
  await api.post('/api/v1/namespaces', { metadata: { name: 'limited' } });
  const ns = '/api/v1/namespaces/limited';
  await api.post(`${ns}/serviceaccounts`, { metadata: { name: 'default' } });
  await api.post(`${ns}/limitranges`, {
    metadata: { name: 'l' },
    spec: {
      limits: [
        { type: 'Pod', max: { memory: '1Gi' } },
        { type: 'Container', min: { cpu: '100m' }, maxLimitRequestRatio: { cpu: '2' } },
      ],
    },
  });
  const why = (resources: object) => refusalOf(api.post(`${ns}/pods`, pod('p', resources)));
  const of = (requests: object, limits: object) => ({ requests, limits });
  const memory = '512Mi';
  assert.equal(
    await why(of({ cpu: '50m', memory }, { cpu: '100m', memory })),
    'pods "p" is forbidden: minimum cpu usage per Container is 100m, but request is 50m',
  );
  assert.equal(
    await why(of({ cpu: '100m', memory }, { cpu: '300m', memory })),
    'pods "p" is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
  );
  assert.equal(
    await why(of({ cpu: '100m', memory: '2Gi' }, { cpu: '200m', memory: '2Gi' })),
    'pods "p" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 2Gi',
  );
  assert.equal(await why(of({ cpu: '100m', memory }, { cpu: '200m', memory })), undefined);
});
