// What kubectl and other clients ask a server besides Services themselves: discovery, forms of bodies, lists, tables.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Status } from '../../../src/meta/api-error.ts';
import type { Answer, ApiCall, ObjectList } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import { type Sent, serviceRequests, services, warnings } from '../harness/service-requests.ts';

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

const { create, have, patch } = serviceRequests(() => running.api);
const ported = { ports: [{ port: 80 }] };

const ask = <T = Status>(
  path: string,
  more: Omit<Partial<ApiCall>, 'path'> = {},
): Promise<Answer<T>> => running.api.send({ method: 'GET', path, ...more });

type ResourceList = {
  readonly resources: readonly {
    readonly name: string;
    readonly singularName: string;
    readonly namespaced: boolean;
    readonly shortNames?: readonly string[];
    readonly categories?: readonly string[];
    readonly verbs: readonly string[];
  }[];
};

const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

test('discovery says what a Service is and what can be done to it (API-01, KCT-01)', async () => {
  const { resources } = await running.api.get<ResourceList>('/api/v1');
  const find = (name: string) => resources.find((resource) => resource.name === name);
  const { verbs, ...service } = find('services') ?? { verbs: [] };
  assert.deepEqual(service, {
    name: 'services',
    singularName: 'service',
    namespaced: true,
    kind: 'Service',
    shortNames: ['svc'],
    categories: ['all'],
    storageVersionHash: (service as Sent).storageVersionHash,
  });
  const all = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
  assert.deepEqual(verbs, all);
  assert.deepEqual(find('services/status')?.verbs, ['get', 'patch', 'update']);
  assert.deepEqual(find('services/proxy')?.verbs, ['create', 'delete', 'get', 'patch', 'update']);
});

test('discovery comes in one piece for those who ask for it, and in many for others (KCT-01)', async () => {
  type Groups = {
    readonly kind: string;
    readonly items: readonly { readonly metadata: { readonly name?: string } }[];
  };
  const { headers, body } = await ask<Groups>('/apis', {
    headers: { accept: `${aggregated},application/json` },
  });
  assert.equal(body.kind, 'APIGroupDiscoveryList');
  assert.equal(headers['content-type'], aggregated);
  assert.ok(body.items.some(({ metadata }) => metadata.name === 'discovery.k8s.io'));
  assert.equal((await running.api.get<Sent>('/apis')).kind, 'APIGroupList');
  assert.equal((await running.api.get<Sent>('/api')).kind, 'APIVersions');
  assert.equal((await running.api.get<Sent>('/apis/discovery.k8s.io/v1')).kind, 'APIResourceList');
  assert.match(String((await running.api.get<Sent>('/version')).gitVersion), /^v1\.36\./);
  for (const path of ['/healthz', '/livez', '/readyz']) {
    assert.equal((await ask<string>(path)).body, 'ok', path);
  }
});

test('OpenAPI describes ports with the keys by which they are joined (KCT-02, API-68)', async () => {
  type Index = { readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>> };
  const { paths } = await running.api.get<Index>('/openapi/v3');
  const url = paths['api/v1']?.serverRelativeURL ?? '';
  assert.match(url, /\?hash=[0-9A-F]{128}$/i);
  type Document = {
    readonly components: {
      readonly schemas: Readonly<
        Record<string, { readonly properties: Readonly<Record<string, Sent>> }>
      >;
    };
  };
  const { components } = await running.api.get<Document>(url);
  const spec = components.schemas['io.k8s.api.core.v1.ServiceSpec']?.properties ?? {};
  const extensions = Object.fromEntries(
    Object.entries(spec.ports ?? {}).filter(([key]) => key.startsWith('x-')),
  );
  assert.deepEqual(extensions, {
    'x-kubernetes-list-map-keys': ['port', 'protocol'],
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-patch-merge-key': 'port',
    'x-kubernetes-patch-strategy': 'merge',
  });
  assert.equal(spec.selector?.['x-kubernetes-map-type'], 'atomic');
  assert.deepEqual(
    Object.entries(spec)
      .filter(([, { description = '' }]) => description === '')
      .map(([name]) => name),
    [],
  );
});

test('bodies come and go as YAML, and go as protobuf (KCT-03)', async () => {
  const yaml =
    'apiVersion: v1\nkind: Service\nmetadata: {name: from-yaml}\nspec: {ports: [{port: 80}]}\n';
  const made = await ask<string>(services, {
    method: 'POST',
    body: yaml,
    headers: { 'content-type': 'application/yaml', accept: 'application/yaml' },
  });
  assert.equal(made.status, 201);
  assert.match(made.body, /^ {2}clusterIP: 10\.96\./m);
  const accept = 'application/vnd.kubernetes.protobuf, */*';
  const read = await ask<string>(`${services}/from-yaml`, { headers: { accept } });
  assert.equal(read.headers['content-type'], 'application/vnd.kubernetes.protobuf');
  assert.ok(read.body.startsWith('k8s\0'));
});

test('unknown forms are refused (KCT-04)', async () => {
  const plain = { method: 'POST', body: 'name: x', headers: { 'content-type': 'text/plain' } };
  const { status, body } = await ask(services, plain);
  assert.deepEqual([status, body.reason], [415, 'UnsupportedMediaType']);
  const html = await ask(`${services}/kubernetes`, { headers: { accept: 'text/html' } });
  assert.deepEqual([html.status, html.body.reason], [406, 'NotAcceptable']);
});

test('lists have a kind, a version and pages, and tokens that are none are refused (KCT-05)', async () => {
  await have(ported);
  const { kind, metadata, items } = await running.api.get<ObjectList & { readonly kind: string }>(
    `${services}?limit=1`,
  );
  assert.equal(kind, 'ServiceList');
  assert.equal(items.length, 1);
  const all = await running.api.get<ObjectList>(services);
  assert.equal(metadata.remainingItemCount, all.items.length - 1);
  const rest = await running.api.get<ObjectList>(
    `${services}?limit=500&continue=${metadata.continue}`,
  );
  assert.deepEqual([...items, ...rest.items], all.items);
  assert.equal(rest.metadata.continue, undefined);
  assert.equal((await ask(`${services}?limit=1&continue=abc`)).status, 400);
});

test('versions are decimal numbers that grow (KCT-09)', async () => {
  const name = await have(ported);
  const versions: string[] = [];
  for (const label of ['a', 'b', 'c']) {
    const { body } = await patch(name, { metadata: { labels: { label } } });
    versions.push(body.metadata.resourceVersion ?? '');
  }
  for (const version of versions) assert.match(version, /^[1-9]\d*$/);
  const numbers = versions.map(Number);
  assert.deepEqual(
    numbers,
    [...numbers].sort((a, b) => a - b),
  );
  assert.equal(new Set(numbers).size, 3);
});

test('both kinds of events are one, found by what they are about (KCT-16)', async () => {
  const involvedObject = {
    kind: 'Service',
    namespace: 'default',
    name: 'web',
    uid: 'u-16',
    apiVersion: 'v1',
  };
  const body = {
    metadata: { name: 'web.16' },
    involvedObject,
    reason: 'Made',
    type: 'Warning',
    message: 'm',
    source: { component: 'cloud' },
  };
  const events = '/api/v1/namespaces/default/events';
  await running.api.post(events, body);
  const other = await running.api.get<Sent>(
    '/apis/events.k8s.io/v1/namespaces/default/events/web.16',
  );
  assert.deepEqual([other.regarding, other.reason, other.note], [involvedObject, 'Made', 'm']);
  const labels = [
    ...Object.entries(involvedObject).map(([key, value]) => `involvedObject.${key}=${value}`),
    'reason=Made',
    'type=Warning',
    'source=cloud',
  ];
  const { items } = await running.api.get<ObjectList>(
    `${events}?fieldSelector=${labels.join(',')}`,
  );
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['web.16'],
  );
  const none = await running.api.get<ObjectList>(
    `${events}?fieldSelector=${labels.join(',')},type!=Warning`,
  );
  assert.deepEqual(none.items, []);
});

test('fields that are unknown or given twice are warned of, ignored or refused (KCT-34)', async () => {
  const body = '{"metadata":{"name":"fields"},"spec":{"ports":[{"port":80,"port":81}],"foo":1}}';
  const post = (validation: string) =>
    ask(`${services}?dryRun=All&fieldValidation=${validation}`, { method: 'POST', body });
  const expected = ['duplicate field "spec.ports[0].port"', 'unknown field "spec.foo"'];
  assert.deepEqual(warnings(await post('Warn')), expected);
  assert.deepEqual(warnings(await post('')), expected);
  const ignored = await post('Ignore');
  assert.deepEqual([ignored.status, warnings(ignored)], [201, []]);
  const strict = await post('Strict');
  assert.equal(strict.status, 400);
  assert.match(
    strict.body.message ?? '',
    /strict decoding error: duplicate field "spec.ports\[0\].port", unknown field "spec.foo"/,
  );
  assert.equal((await post('Some')).status, 422);
});

test('names are generated from a prefix that is cut to fit (KCT-36)', async () => {
  const generateName = `${'x'.repeat(60)}-`;
  const { body } = await create(ported, { name: undefined, generateName });
  assert.match(body.metadata.name ?? '', /^x{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});
test('errors say what is wrong with what (KCT-37)', async () => {
  await have(ported, { name: 'twice' });
  const { status, body } = await create(ported, { name: 'twice' });
  assert.equal(status, 409);
  assert.deepEqual(body, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'services "twice" already exists',
    reason: 'AlreadyExists',
    details: { name: 'twice', kind: 'services' },
    code: 409,
  });
  assert.equal((await ask(`${services}/none`)).body.reason, 'NotFound');
  assert.equal((await ask(`${services}?fieldSelector=a=b`)).body.reason, 'BadRequest');
});

test('nothing is made in a namespace that is not there or is going (KCT-38)', async () => {
  const post = (namespace: string) =>
    ask(`/api/v1/namespaces/${namespace}/services`, {
      method: 'POST',
      body: { metadata: { name: 'a' }, spec: ported },
    });
  const missing = await post('nowhere');
  assert.deepEqual([missing.status, missing.body.message], [404, 'namespaces "nowhere" not found']);
  await running.api.post('/api/v1/namespaces', {
    metadata: { name: 'going', finalizers: ['example.com/hold'] },
  });
  await running.api.delete('/api/v1/namespaces/going');
  const going = await post('going');
  assert.equal(going.status, 403);
  assert.deepEqual(going.body.details?.causes, [
    {
      reason: 'NamespaceTerminating',
      message: 'namespace going is being terminated',
      field: 'metadata.namespace',
    },
  ]);
});

test('what proxies, DNS servers and controllers read is there (KCT-41)', async () => {
  const paths = [
    'nodes',
    'pods',
    'namespaces',
    'events',
    'configmaps',
    'serviceaccounts',
    'services',
    'endpoints',
  ];
  for (const path of paths) await running.api.get(`/api/v1/${path}`);
  await running.api.get('/apis/discovery.k8s.io/v1/endpointslices');
  await running.api.get('/apis/coordination.k8s.io/v1/leases');
  const review = await running.api.post<Sent>('/apis/authentication.k8s.io/v1/tokenreviews', {
    spec: { token: 'none' },
  });
  assert.deepEqual((review.status as Sent).authenticated ?? false, false);
});

test('collections that clients look into by themselves are there, empty, and take nothing', async () => {
  const inNamespace = (root: string, plural: string): string =>
    `${root}/namespaces/default/${plural}`;
  for (const path of [
    inNamespace('/api/v1', 'limitranges'),
    inNamespace('/api/v1', 'resourcequotas'),
    '/apis/autoscaling/v2/horizontalpodautoscalers',
    '/apis/storage.k8s.io/v1/csidrivers',
  ]) {
    const list = await running.api.get<ObjectList<Sent>>(path);
    assert.deepEqual(list.items, [], path);
    assert.equal((await ask(`${path}/x`)).status, 404, path);
  }
  const claims = inNamespace('/apis/resource.k8s.io/v1', 'resourceclaims');
  const { status, body } = await ask(claims, { method: 'POST', body: { metadata: { name: 'j' } } });
  assert.deepEqual([status, body.reason], [501, 'NotImplemented']);
  assert.match(
    body.message ?? '',
    /^resourceclaims\.resource\.k8s\.io cannot be stored here: this server has none and takes none\. No node offers devices/,
  );
  assert.equal((await ask(`${claims}/j`, { method: 'DELETE' })).status, 404);
  // A cluster-wide one is in no namespace.
  assert.equal((await ask(inNamespace('/apis/storage.k8s.io/v1', 'csidrivers'))).status, 404);
  // Clients that follow them hear that this is all.
  const watch = await running.api.watch(
    `${claims}?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
  );
  await watch.until((events) => events.some(({ type }) => type === 'BOOKMARK'));
  watch.close();
  const { resources } = await running.api.get<ResourceList>('/apis/resource.k8s.io/v1');
  assert.deepEqual(
    resources.map(({ name, verbs }) => [name, verbs]),
    ['deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices'].map((name) => [
      name,
      ['get', 'list', 'watch'],
    ]),
  );
});
