// Scale, binding and eviction, and status beside the object.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const timeout = 30_000;
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const pods = '/api/v1/namespaces/default/pods';

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image: 'app:1' }] },
};
const selector = { matchLabels: { app: 'web' } };

type Scale = KubeObject & {
  readonly spec: { readonly replicas?: number };
  readonly status: { readonly selector?: string };
};
type Workload = KubeObject & { readonly spec: { readonly replicas: number } };
type Pod = KubeObject & {
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly observedGeneration?: number;
    readonly nominatedNodeName?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly observedGeneration?: number;
    }[];
  };
};

const replicas = async (name: string): Promise<number> =>
  (await running.api.get<Workload>(`${deployments}/${name}`)).spec.replicas;

test('a scale is read and written as an object of its own', { timeout }, async () => {
  const { api } = running;
  await api.post(deployments, { metadata: { name: 'web' }, spec: { selector, template } });
  const path = `${deployments}/web/scale`;
  const scale = await api.get<Scale>(path);
  assert.equal(scale.apiVersion, 'autoscaling/v1');
  assert.equal(scale.spec.replicas, 1);
  assert.equal(scale.status.selector, 'app=web');
  const resized = await api.put<Scale>(path, { ...scale, spec: { replicas: 3 } });
  assert.equal(resized.spec.replicas, 3);
  assert.equal(await replicas('web'), 3);
  await api.patch(path, { spec: { replicas: 5 } });
  assert.equal(await replicas('web'), 5);
});

test('a scale from an old version or below zero is refused', { timeout }, async () => {
  const { api } = running;
  await api.post(deployments, { metadata: { name: 'old' }, spec: { selector, template } });
  const path = `${deployments}/old/scale`;
  const scale = await api.get<Scale>(path);
  await api.patch(path, { spec: { replicas: 2 } });
  const stale = await api.send({
    method: 'PUT',
    path,
    body: { ...scale, spec: { replicas: 9 } },
  });
  assert.equal(stale.status, 409);
  const { metadata } = await api.get<Scale>(path);
  const body = { ...scale, metadata, spec: { replicas: -1 } };
  assert.equal((await api.send({ method: 'PUT', path, body })).status, 422);
  assert.equal(await replicas('old'), 2);
});

test('a scale is that of one workload and must be readable', { timeout }, async () => {
  const { api } = running;
  await api.post(deployments, { metadata: { name: 'one' }, spec: { selector, template } });
  const path = `${deployments}/one/scale`;
  const put = (metadata: object) =>
    api.send({ method: 'PUT', path, body: { metadata, spec: { replicas: 2 } } });
  const nameless = await put({});
  assert.equal(nameless.status, 400);
  assert.match(nameless.body.message ?? '', /was undeterminable: name must be provided$/);
  const other = await put({ name: 'one', uid: 'x' });
  assert.equal(other.status, 409);
  assert.match(
    other.body.message ?? '',
    /deployments\/scale\.apps "one": Precondition failed: UID/,
  );
  const unreadable = await api.send({
    method: 'PATCH',
    path,
    body: { spec: { replicas: 'x' } },
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  assert.equal(unreadable.status, 422);
  assert.deepEqual(
    unreadable.body.details?.causes?.map(({ field }) => field),
    ['patch'],
  );
  assert.equal(await replicas('one'), 1);
});

const pod = (name: string) => ({ metadata: { name }, spec: template.spec });
const binding = (name: string, node: string) => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name },
  target: { kind: 'Node', name: node },
});

test('of many bindings of one pod one wins', { timeout }, async () => {
  const { api } = running;
  await api.post(pods, pod('bound'));
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      api.send({
        method: 'POST',
        path: `${pods}/bound/binding`,
        body: binding('bound', `node-${i}`),
      }),
    ),
  );
  const winners = answers.flatMap(({ status }, i) => (status === 201 ? [`node-${i}`] : []));
  assert.equal(winners.length, 1);
  assert.ok(answers.every(({ status }) => status === 201 || status === 409));
  const bound = await api.get<Pod>(`${pods}/bound`);
  assert.equal(bound.spec.nodeName, winners[0]);
  assert.ok(bound.status.conditions?.some(({ type }) => type === 'PodScheduled'));
});

test('a binding may be posted to its own collection', { timeout }, async () => {
  const { api } = running;
  await api.post(pods, pod('posted'));
  await api.post('/api/v1/namespaces/default/bindings', binding('posted', 'n'));
  assert.equal((await api.get<Pod>(`${pods}/posted`)).spec.nodeName, 'n');
});

test('a binding to something else than a node is refused', { timeout }, async () => {
  const { api } = running;
  await api.post(pods, pod('unbound'));
  const wrong = { ...binding('unbound', 'x'), target: { kind: 'Pod', name: 'x' } };
  const refused = await api.send({ method: 'POST', path: `${pods}/unbound/binding`, body: wrong });
  assert.equal(refused.status, 422);
  assert.equal((await api.get<Pod>(`${pods}/unbound`)).spec.nodeName, undefined);
});

test('a binding holds for one pod alone, and not while something gates it', {
  timeout,
}, async () => {
  const { api } = running;
  const bindTo = (name: string, metadata: object = {}) => {
    const body = binding(name, 'n');
    const path = `${pods}/${name}/binding`;
    return api.send({
      method: 'POST',
      path,
      body: { ...body, metadata: { ...body.metadata, ...metadata } },
    });
  };
  await api.post(pods, pod('free'));
  const other = await bindTo('free', { uid: 'x' });
  assert.equal(other.status, 409);
  assert.match(other.body.message ?? '', /Precondition failed: UID in precondition: x, UID in/);
  await api.post(pods, {
    ...pod('gated'),
    spec: { ...template.spec, schedulingGates: [{ name: 'example.com/wait' }] },
  });
  const gated = await bindTo('gated');
  assert.equal(gated.status, 409);
  assert.equal(
    gated.body.message,
    'Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates',
  );
});

test('a binding keeps the generation and the position of the condition', { timeout }, async () => {
  const { api } = running;
  await api.post(pods, pod('placed'));
  const conditions = ['PodScheduled', 'Ready'].map((type) => ({ type, status: 'False' }));
  await api.patch(`${pods}/placed/status`, { status: { conditions, nominatedNodeName: 'm' } });
  await api.post(`${pods}/placed/binding`, binding('placed', 'n'));
  const bound = await api.get<Pod>(`${pods}/placed`);
  assert.equal(bound.metadata.generation, 1);
  assert.equal(bound.status.nominatedNodeName, undefined, 'the nomination is removed');
  assert.deepEqual(
    bound.status.conditions?.map(({ type, status }) => `${type} ${status}`),
    ['PodScheduled True', 'Ready False'],
  );
});

test('a binding gives the pod the zone of its node', { timeout }, async () => {
  const { api } = running;
  const labels = { 'topology.kubernetes.io/zone': 'a', other: 'x' };
  await api.post('/api/v1/nodes', { metadata: { name: 'zoned', labels } });
  await api.post(pods, { ...pod('travels'), metadata: { name: 'travels', labels: { app: 'w' } } });
  await api.post(`${pods}/travels/binding`, binding('travels', 'zoned'));
  const { metadata } = await api.get<Pod>(`${pods}/travels`);
  assert.deepEqual(metadata.labels, { app: 'w', 'topology.kubernetes.io/zone': 'a' });
});

test('a container for debugging makes a generation and takes no labels along', {
  timeout,
}, async () => {
  const { api } = running;
  await api.post(pods, pod('debugged'));
  const changed = await api.patch<Pod>(`${pods}/debugged/ephemeralcontainers`, {
    metadata: { labels: { a: 'b' } },
    spec: { ephemeralContainers: [{ name: 'debug', image: 'tools' }] },
  });
  assert.equal(changed.metadata.generation, 2);
  assert.equal(changed.metadata.labels, undefined);
});

test('a resize changes amounts alone, which an update of the pod cannot', { timeout }, async () => {
  const { api } = running;
  const { resources: listed } = await api.get<
    KubeObject & { readonly resources: readonly { readonly name: string }[] }
  >('/api/v1');
  assert.ok(listed.some(({ name }) => name === 'pods/resize'));
  const quantities = (cpu: string) => ({ requests: { cpu, memory: '1Mi' }, limits: { cpu: '2' } });
  const spec = (cpu: string, image = 'app:1') => ({
    containers: [{ name: 'c', image, resources: quantities(cpu) }],
  });
  const made = await api.post<Pod>(pods, { ...pod('sized'), spec: spec('1') });
  const resize = async (cpu: string) =>
    api.send<Pod & { readonly spec: ReturnType<typeof spec> }>({
      method: 'PATCH',
      path: `${pods}/sized/resize?fieldManager=sizer`,
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: { metadata: { labels: { a: 'b' } }, spec: spec(cpu, 'app:2'), status: { reason: 'x' } },
    });
  const { status, body } = await resize('1500m');
  assert.equal(status, 200);
  const [container] = body.spec.containers;
  assert.deepEqual([container?.image, container?.resources], ['app:1', quantities('1500m')]);
  assert.equal(body.metadata.generation, 2);
  assert.equal(body.metadata.labels, undefined);
  assert.deepEqual(body.status, made.status);
  const sizer = body.metadata.managedFields?.find(({ manager }) => manager === 'sizer');
  assert.equal(sizer?.subresource, 'resize');
  assert.equal((await resize('3')).status, 422);
  const update = await api.send({
    method: 'PATCH',
    path: `${pods}/sized`,
    headers: { 'content-type': 'application/strategic-merge-patch+json' },
    body: { spec: spec('1') },
  });
  assert.equal(update.status, 422);
});

test('a status that does not say what it observed keeps what was observed', {
  timeout,
}, async () => {
  const { api } = running;
  await api.post(pods, pod('observed'));
  const path = `${pods}/observed/status`;
  const conditions = [{ type: 'Ready', status: 'False', observedGeneration: 1 }];
  await api.patch(path, { status: { observedGeneration: 1, conditions } });
  const { status } = await api.patch<Pod>(path, {
    status: { observedGeneration: null, conditions: [{ type: 'Ready', status: 'True' }] },
  });
  assert.equal(status.observedGeneration, 1);
  assert.deepEqual(
    status.conditions?.map(({ observedGeneration }) => observedGeneration),
    [1],
  );
});

test('an eviction deletes the pod, and a dry run does not', { timeout }, async () => {
  const { api } = running;
  await api.post(pods, pod('evicted'));
  const path = `${pods}/evicted/eviction`;
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'evicted' } };
  const nameless = await api.send({ method: 'POST', path, body: { ...body, metadata: {} } });
  assert.equal(nameless.status, 400);
  assert.equal(nameless.body.message, 'name in URL does not match name in Eviction object');
  await api.post(`${path}?dryRun=All`, body);
  assert.equal((await api.get(`${pods}/evicted`)).metadata.deletionTimestamp, undefined);
  const other = { ...body, deleteOptions: { preconditions: { resourceVersion: '1' } } };
  assert.equal((await api.send({ method: 'POST', path, body: other })).status, 409);
  await api.post(path, { ...body, deleteOptions: { gracePeriodSeconds: 0 } });
  const { status } = await api.send({ method: 'GET', path: `${pods}/evicted` });
  assert.equal(status, 404);
});

test('an eviction may have the old version, but no other', { timeout }, async () => {
  const { api } = running;
  await api.post(pods, pod('drained'));
  const evictAs = (apiVersion: string, more: object = {}) => {
    const body = { apiVersion, kind: 'Eviction', metadata: { name: 'drained' }, ...more };
    return api.send({ method: 'POST', path: `${pods}/drained/eviction`, body });
  };
  const other = await evictAs('policy/v1alpha1');
  assert.equal(other.status, 400);
  assert.match(other.body.message ?? '', /^Eviction in version "v1alpha1" cannot be handled as a/);
  const wrong = await evictAs('policy/v1beta1', { deleteOptions: 'now' });
  assert.equal(wrong.status, 400);
  assert.match(wrong.body.message ?? '', /^Eviction in version "v1beta1" cannot be handled as a/);
  const done = await evictAs('policy/v1beta1', { deleteOptions: { gracePeriodSeconds: 0 } });
  assert.equal(done.status, 201);
  assert.equal((await api.send({ method: 'GET', path: `${pods}/drained` })).status, 404);
});

test('a pod that terminates slowly has a condition that it was evicted', { timeout }, async () => {
  const { api } = running;
  const made = await api.post<Pod>(pods, {
    ...pod('leaving'),
    spec: { ...template.spec, nodeName: 'n' },
  });
  const { uid, resourceVersion } = made.metadata;
  await api.post(`${pods}/leaving/eviction`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: 'leaving' },
    deleteOptions: { preconditions: { uid, resourceVersion } },
  });
  const left = await api.get<Pod>(`${pods}/leaving`);
  assert.notEqual(left.metadata.deletionTimestamp, undefined);
  assert.deepEqual(
    left.status.conditions?.map(({ type, status, reason }) => [type, status, reason]),
    [['DisruptionTarget', 'True', 'EvictionByEvictionAPI']],
  );
  assert.equal(left.metadata.managedFields?.length, made.metadata.managedFields?.length);
});

test('status is written beside the object, and neither touches the other', {
  timeout,
}, async () => {
  const { api } = running;
  const services = '/api/v1/namespaces/default/services';
  const spec = { type: 'LoadBalancer', ports: [{ port: 80 }] };
  const made = await api.post<Service>(services, { metadata: { name: 'lb' }, spec });
  const ingress = [{ ip: '192.0.2.7' }];
  const labels = { by: 'status' };
  const written = await api.put<Service>(`${services}/lb/status`, {
    ...made,
    metadata: { ...made.metadata, labels },
    spec: { ...made.spec, sessionAffinity: 'ClientIP' },
    status: { loadBalancer: { ingress } },
  });
  assert.equal(written.status.loadBalancer.ingress?.[0]?.ip, '192.0.2.7');
  assert.equal(written.spec.sessionAffinity, 'None');
  const changed = await api.patch<Service>(`${services}/lb`, {
    spec: { sessionAffinity: 'ClientIP' },
    status: { loadBalancer: null },
  });
  assert.equal(changed.spec.sessionAffinity, 'ClientIP');
  assert.equal(changed.status.loadBalancer.ingress?.[0]?.ip, '192.0.2.7');
});
