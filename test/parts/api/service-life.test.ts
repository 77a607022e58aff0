// Services through their life: written again, patched, selected, deleted, tried out.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Service } from '../../../src/kinds/service/types.ts';
import { assertExact, readAllocations } from '../harness/allocation-checks.ts';
import type { ObjectList } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import {
  assertSpec,
  causes,
  type Sent,
  serviceRequests,
  services,
  warnings,
} from '../harness/service-requests.ts';

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

const { create, have, patch, put, read } = serviceRequests(() => running.api);

const ports = [{ port: 80 }];
const ported = { ports };
const local = { type: 'LoadBalancer', ports, externalTrafficPolicy: 'Local' };

test('another class may come with the next load balancer (API-25)', async () => {
  const name = await have({ ...local, loadBalancerClass: 'example.com/a' });
  await patch(name, { spec: { type: 'ClusterIP' } });
  const next = { type: 'LoadBalancer', loadBalancerClass: 'example.com/b' };
  assertSpec(await patch(name, { spec: next }), { loadBalancerClass: 'example.com/b' });
});

test('the manifest of the beginning may be sent again and changes nothing (API-47, API-49, API-50)', async () => {
  const manifest = {
    type: 'LoadBalancer',
    ports: [
      { name: 'a', port: 80 },
      { name: 'b', port: 81 },
    ],
    externalTrafficPolicy: 'Local',
    ipFamilyPolicy: 'PreferDualStack',
  };
  const name = await have(manifest);
  const stored = await read(name);
  assertSpec(await put(name, manifest), stored.spec);
  assert.equal((await read(name)).metadata.resourceVersion, stored.metadata.resourceVersion);
});

test('node ports follow the names of their ports, unless another port asks for them (API-48)', async () => {
  const name = await have({
    type: 'NodePort',
    ports: [
      { name: 'a', port: 80, nodePort: 30481 },
      { name: 'b', port: 81, nodePort: 30482 },
    ],
  });
  const moved = await put(name, {
    type: 'NodePort',
    ports: [
      { name: 'b', port: 80 },
      { name: 'c', port: 82, nodePort: 30481 },
    ],
  });
  assert.deepEqual(
    moved.body.spec.ports?.map((port) => port.nodePort),
    [30482, 30481],
  );
  const taken = await put(name, {
    type: 'NodePort',
    ports: [
      { name: 'b', port: 80 },
      { name: 'c', port: 82, nodePort: 30482 },
    ],
  });
  const [first, second] = taken.body.spec.ports ?? [];
  assert.equal(second?.nodePort, 30482);
  assert.ok(first?.nodePort !== undefined && first.nodePort !== 30482 && first.nodePort !== 30481);
});

test('an old version is a conflict, told before what else is wrong (API-50)', async () => {
  const name = await have(ported);
  const { resourceVersion } = (await read(name)).metadata;
  await patch(name, { metadata: { labels: { a: 'b' } } });
  const { status, body } = await put(name, { type: 'Foo' }, { resourceVersion });
  assert.equal(status, 409);
  assert.match(JSON.stringify(body), /the object has been modified; please apply your changes/);
});

test('PUT makes a Service and Endpoints, but no slice, address or range (API-51)', async () => {
  const statusOf = async (path: string, more: Sent = {}): Promise<number> => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return (await running.api.send({ method: 'PUT', path, body: { metadata: { name }, ...more } }))
      .status;
  };
  assert.equal(await statusOf(`${services}/made-by-put`, { spec: ported }), 201);
  assert.equal(await statusOf('/api/v1/namespaces/default/endpoints/made-by-put'), 201);
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  assert.equal(await statusOf(`${slices}/x`, { addressType: 'IPv4', endpoints: [] }), 404);
  const networking = '/apis/networking.k8s.io/v1';
  const parentRef = { resource: 'services', namespace: 'default', name: 'x' };
  assert.equal(await statusOf(`${networking}/ipaddresses/192.0.2.1`, { spec: { parentRef } }), 404);
  assert.equal(
    await statusOf(`${networking}/servicecidrs/x`, { spec: { cidrs: ['10.0.0.0/24'] } }),
    404,
  );
});

test('warnings come again with every change (API-62, API-65)', async () => {
  const name = await have({ ...ported, trafficDistribution: 'PreferClose' });
  assert.deepEqual(warnings(await patch(name, { metadata: { labels: { a: 'b' } } })), [
    'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
  ]);
});

test('a service has no generation (API-60)', async () => {
  const { body } = await create(ported);
  const changed = await patch(body.metadata.name ?? '', { spec: { selector: { a: 'b' } } });
  assert.equal(changed.body.metadata.generation, undefined);
});

test('services are found by name, namespace, type and address, and by nothing else (API-67)', async () => {
  const name = await have({ type: 'NodePort', ports, clusterIP: '10.96.67.1' }, { name: 'found' });
  const found = async (selector: string): Promise<readonly (string | undefined)[] | string> => {
    const path = `/api/v1/services?fieldSelector=${encodeURIComponent(selector)}`;
    const { status, body } = await running.api.send<ObjectList & { readonly message?: string }>({
      method: 'GET',
      path,
    });
    return status === 200
      ? body.items.map((item) => item.metadata.name)
      : `${status} ${body.message}`;
  };
  assert.deepEqual(await found('metadata.name=found,metadata.namespace==default'), [name]);
  assert.deepEqual(await found('spec.clusterIP=10.96.67.1'), [name]);
  assert.deepEqual(
    await found('spec.type=NodePort,metadata.name!=made-by-put,spec.clusterIP==10.96.67.1'),
    [name],
  );
  assert.ok(!(await found('spec.type!=NodePort')).includes(name));
  assert.equal(
    await found('spec.sessionAffinity=None'),
    '400 field label not supported: spec.sessionAffinity',
  );
  assert.equal(await found('status.a=b,spec.a=b'), '400 field label not supported: spec.a');
});

test('strategic patches join ports by number, apply by number and protocol (API-68)', async () => {
  const tcp = { name: 'tcp', port: 53 };
  const udp = { name: 'udp', port: 53, protocol: 'UDP' };
  const names = ({ spec }: Service): readonly unknown[] =>
    (spec.ports ?? []).map((port) => `${port.name} ${port.protocol}`);
  const name = await have({ ports: [tcp] });
  const joined = await patch(name, { spec: { ports: [udp] } }, 'strategic');
  assert.deepEqual(names(joined.body), ['udp UDP']);
  const apply = (manager: string, list: readonly Sent[]) =>
    patch(
      `applied?fieldManager=${manager}`,
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'applied' }, spec: { ports: list } },
      'apply',
    );
  assert.equal((await apply('one', [tcp])).status, 201);
  assert.deepEqual(names((await apply('two', [udp])).body), ['tcp TCP', 'udp UDP']);
  assert.deepEqual(names((await apply('three', [{ ...tcp, name: 'tcp' }])).body), [
    'tcp TCP',
    'udp UDP',
  ]);
});

test('addresses, families, ranges and the selector are applied as a whole, conditions by type (API-69)', async () => {
  const apply = (manager: string, at: string, body: Sent) =>
    patch(
      `${at}?fieldManager=${manager}`,
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'whole' }, ...body },
      'apply',
    );
  const lists = {
    selector: { app: 'web' },
    externalIPs: ['198.51.100.1'],
    loadBalancerSourceRanges: ['10.0.0.0/8'],
    ipFamilies: ['IPv4'],
    clusterIP: '10.96.69.1',
    clusterIPs: ['10.96.69.1'],
  };
  await apply('one', 'whole', { spec: { ...ported, type: 'LoadBalancer', ...lists } });
  const changed = {
    selector: { tier: 'front' },
    externalIPs: ['198.51.100.2'],
    loadBalancerSourceRanges: ['192.168.0.0/16'],
    ipFamilies: ['IPv4', 'IPv6'],
    clusterIPs: ['10.96.69.1', 'fd00:96::69'],
  };
  const { status, body } = await apply('two', 'whole', { spec: changed });
  assert.equal(status, 409);
  const { details } = body as unknown as {
    readonly details: { readonly causes: readonly { readonly field: string }[] };
  };
  assert.deepEqual(
    details.causes.map((cause) => cause.field),
    ['clusterIPs', 'externalIPs', 'ipFamilies', 'loadBalancerSourceRanges', 'selector'].map(
      (field) => `.spec.${field}`,
    ),
  );
  const condition = (type: string): Sent => ({
    type,
    status: 'True',
    reason: 'R',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  await apply('one', 'whole/status', { status: { conditions: [condition('A')] } });
  const both = await apply('two', 'whole/status', { status: { conditions: [condition('B')] } });
  assert.deepEqual(
    both.body.status.conditions?.map(({ type }) => type),
    ['A', 'B'],
  );
});

test('a deleted service is answered as it was, and with it go Endpoints, addresses and ports (API-70, API-71)', async () => {
  const name = await have({ ...local, ipFamilyPolicy: 'PreferDualStack' });
  const stored = await read(name);
  await running.api.post('/api/v1/namespaces/default/endpoints', { metadata: { name } });
  const deleted = await running.api.delete<Service>(`${services}/${name}`);
  assert.deepEqual(deleted.spec, stored.spec);
  assert.equal(deleted.metadata.deletionTimestamp, undefined);
  const endpoints = await running.api.send({
    method: 'GET',
    path: `/api/v1/namespaces/default/endpoints/${name}`,
  });
  assert.equal(endpoints.status, 404);
  await assertExact(running.store);
});

test('a finalizer holds a deleted service, and leaving by way of the status frees all (API-70, API-72)', async () => {
  const name = await have({ ...local }, { finalizers: ['example.com/hold'] });
  const deleted = await running.api.delete<Service>(`${services}/${name}`);
  assert.ok(deleted.metadata.deletionTimestamp !== undefined);
  await assertExact(running.store);
  assert.equal((await patch(`${name}/status`, { metadata: { finalizers: null } })).status, 200);
  const gone = await running.api.send({ method: 'GET', path: `${services}/${name}` });
  assert.equal(gone.status, 404);
  await assertExact(running.store);
});

test('a try takes nothing, and shows a place for what would be given (API-73)', async () => {
  const held = await readAllocations(running.store);
  const trial = await create(
    { ...local, ipFamilyPolicy: 'PreferDualStack' },
    { name: 'trial' },
    '?dryRun=All',
  );
  assertSpec(trial, {
    clusterIPs: ['10.96.0.0', 'fd00:96::'],
    ipFamilies: ['IPv4', 'IPv6'],
    ports: [{ protocol: 'TCP', port: 80, targetPort: 80, nodePort: 32769 }],
    healthCheckNodePort: 32770,
  });
  const taken = await create(
    { ...ported, clusterIP: '10.96.0.1' },
    { name: 'trial' },
    '?dryRun=All',
  );
  assertSpec(taken, { clusterIPs: ['10.96.0.1'] });
  assert.equal((await create({ type: 'NodePort' }, { name: 'trial' }, '?dryRun=All')).status, 422);
  const name = await have({ type: 'ExternalName', externalName: 'db.example.com' });
  const changed = await patch(`${name}?dryRun=All`, { spec: { type: 'NodePort', ports } });
  assertSpec(changed, { clusterIPs: ['10.96.0.0'] });
  assert.equal((await read(name)).spec.type, 'ExternalName');
  assert.equal((await running.api.send({ method: 'GET', path: `${services}/trial` })).status, 404);
  assert.deepEqual(await readAllocations(running.store), held);
});

test('a write that fails gives back what it had taken (API-74)', async () => {
  await have({ type: 'NodePort', ports: [{ port: 80, nodePort: 30740 }] });
  const held = await readAllocations(running.store);
  const one = [
    { name: 'a', port: 80 },
    { name: 'b', port: 81, nodePort: 30740 },
  ];
  assert.deepEqual(
    causes(await create({ type: 'NodePort', ports: one, ipFamilyPolicy: 'RequireDualStack' })),
    ['Invalid spec.ports[1].nodePort: Invalid value: 30740: provided port is already allocated'],
  );
  const wrong = { ...local, clusterIP: '10.96.74.1', sessionAffinity: 'Cookie' };
  assert.equal(causes(await create(wrong)).length, 1);
  assert.deepEqual(await readAllocations(running.store), held);
  assert.equal((await create({ ...ported, clusterIP: '10.96.74.1' })).status, 201);
});
