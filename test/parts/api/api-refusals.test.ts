// What the API server refuses whatever the kind, and in which words.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Status } from '../../../src/meta/api-error.ts';
import { configMap } from '../harness/config-maps.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const timeout = 30_000;
const configMaps = '/api/v1/namespaces/default/configmaps';

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
  await running.api.post(configMaps, configMap('one', { k: 'v' }));
  await running.api.post('/api/v1/namespaces', { metadata: { name: 'going' } });
  await running.api.post('/api/v1/namespaces/default/events', {
    metadata: { name: 'told' },
    involvedObject: { namespace: 'default' },
  });
});
after(() => running.stop());

const noMethod = 'the server does not allow this method on the requested resource';
const notServed = 'the server could not find the requested resource';
const deleteOptions = 'DeleteOptions.meta.k8s.io "" is invalid: ';
const createOptions = 'CreateOptions.meta.k8s.io "" is invalid: ';
const policy = 'propagationPolicy: ';
const token = Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"a"}').toString('base64url');

type Case = {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly code: number;
  readonly message: string;
};

const cases: Readonly<Record<string, Case>> = {
  'a list that names a version and a page': {
    path: `${configMaps}?resourceVersion=5&continue=${token}`,
    code: 400,
    message: 'specifying resource version is not allowed when using continue',
  },
  'a post to the versions of the core group': {
    method: 'POST',
    path: '/api',
    body: {},
    code: 405,
    message: noMethod,
  },
  'a post to the resources of a group': {
    method: 'POST',
    path: '/apis/apps/v1',
    body: {},
    code: 405,
    message: noMethod,
  },
  'a put of the version': {
    method: 'PUT',
    path: '/version',
    body: {},
    code: 405,
    message: noMethod,
  },
  'something below a subresource': {
    path: '/api/v1/namespaces/default/services/kubernetes/status/x',
    code: 404,
    message: notServed,
  },
  'options of a delete that say all wrong': {
    method: 'DELETE',
    path: `${configMaps}/one?propagationPolicy=Foo&orphanDependents=true&dryRun=x`,
    code: 422,
    message: `${deleteOptions}[${policy}Invalid value: "Foo": orphanDependents and deletionPropagation cannot be both set, ${policy}Unsupported value: "Foo": supported values: "Foreground", "Background", "Orphan", "nil", dryRun: Unsupported value: ["x"]: supported values: "All"]`,
  },
  'options of a delete that are a list': {
    method: 'DELETE',
    path: `${configMaps}/one`,
    body: [],
    code: 400,
    message: `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  },
  'options of a create: the manager before the dry run': {
    method: 'POST',
    path: `${configMaps}?dryRun=x&fieldManager=${'m'.repeat(129)}`,
    body: configMap('two'),
    code: 422,
    message: `${createOptions}[fieldManager: Too long: may not be more than 128 bytes, dryRun: Unsupported value: ["x"]: supported values: "All"]`,
  },
  'a delete of another event of that name, by its second group': {
    method: 'DELETE',
    path: '/apis/events.k8s.io/v1/namespaces/default/events/told',
    body: { preconditions: { uid: 'x' } },
    code: 409,
    message:
      'Operation cannot be fulfilled on Event "told": the UID in the precondition (x) does not match the UID in record (UID). The object might have been deleted and then recreated',
  },
  'a delete of another namespace of that name': {
    method: 'DELETE',
    path: '/api/v1/namespaces/going',
    body: { preconditions: { uid: 'x' } },
    code: 409,
    message:
      'Operation cannot be fulfilled on namespaces "going": Precondition failed: UID in precondition: x, UID in object meta: UID',
  },
};

for (const [title, { method = 'GET', path, body, code, message }] of Object.entries(cases)) {
  test(`${title} is refused with ${code} (KCT-05)`, { timeout }, async () => {
    const request = { method, path, ...(body === undefined ? {} : { body }) };
    const answer = await running.api.send<Status>(request);
    assert.equal(answer.status, code);
    assert.equal(answer.body.message?.replace(/[0-9a-f-]{36}/, 'UID'), message);
  });
}

const tableless: readonly (readonly [string, string, object])[] = [
  [
    'a review',
    '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    { spec: { namespace: 'a' } },
  ],
  ['a token', '/api/v1/namespaces/default/serviceaccounts/default/token', { spec: {} }],
  ['a binding', '/api/v1/namespaces/default/pods/none/binding', { target: { name: 'n' } }],
  ['an eviction', '/api/v1/namespaces/default/pods/none/eviction', { metadata: { name: 'none' } }],
];
for (const [title, path, body] of tableless) {
  test(`${title} is no Table (KCT-05)`, { timeout }, async () => {
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const send = (accept: string) =>
      running.api.send<Status>({ method: 'POST', path, body, headers: { accept } });
    const answer = await send(table);
    assert.equal(answer.status, 406);
    assert.match(answer.body.message ?? '', /^only the following media types are accepted: /);
    assert.notEqual((await send(`${table},application/json`)).status, 406);
  });
}

test('a namespace and a link to itself in an update are dropped', { timeout }, async () => {
  const { api } = running;
  const node = '/api/v1/nodes/dropped';
  await api.post('/api/v1/nodes', { metadata: { name: 'dropped' } });
  const sent = { name: 'dropped', namespace: 'a', selfLink: '/x', labels: { a: 'b' } };
  const { metadata } = await api.put(node, { metadata: sent });
  assert.deepEqual(metadata.labels, { a: 'b' });
  assert.equal(metadata.namespace, undefined);
  assert.equal('selfLink' in metadata, false);
  assert.equal(
    (await api.patch(node, { metadata: { namespace: 'a' } })).metadata.namespace,
    undefined,
  );
});

test('the root names the paths to go on from (KCT-01)', { timeout }, async () => {
  const { status, body } = await running.api.send<{ readonly paths: readonly string[] }>({
    method: 'GET',
    path: '/',
  });
  assert.equal(status, 200);
  assert.deepEqual(body.paths, [...body.paths].sort());
  for (const path of ['/api/v1', '/apis/apps/v1', '/version', '/openapi/v3'])
    assert.ok(body.paths.includes(path), path);
});
