// What the documentation of Services says and no other test here asks: fields of older versions, and what is accepted although it
// reads as if it were not.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Service } from '../../../src/kinds/service/types.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import { serviceRequests, services, warnings } from '../harness/service-requests.ts';

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

const { create, have, read } = serviceRequests(() => running.api);
const ports = [{ port: 80 }];

const gone: readonly [string, unknown][] = [
  ['topologyKeys', ['kubernetes.io/hostname', '*']],
  ['ipFamily', 'IPv4'],
];
for (const [field, value] of gone) {
  test(`${field}, which Services had in older versions, is unknown: dropped with a warning, refused when strict`, async () => {
    const spec = { ports, [field]: value };
    const answer = await create(spec);
    assert.equal(answer.status, 201);
    assert.deepEqual(warnings(answer), [`unknown field "spec.${field}"`]);
    assert.ok(!(field in (await read(answer.body.metadata.name ?? '')).spec));
    const strict = await create(spec, {}, '?fieldValidation=Strict');
    assert.equal(strict.status, 400);
    assert.match(JSON.stringify(strict.body), /strict decoding error: unknown field/);
  });
}

test('a load balancer may mix protocols (LBC-19)', async () => {
  const mixed = [
    { name: 'web', port: 443 },
    { name: 'quic', port: 443, protocol: 'UDP' },
    { name: 'signals', port: 2905, protocol: 'SCTP' },
  ];
  const { spec } = await read(await have({ type: 'LoadBalancer', ports: mixed }));
  const ports = spec.ports?.map(({ protocol, port }) => `${port}/${protocol}`);
  assert.deepEqual(ports, ['443/TCP', '443/UDP', '2905/SCTP']);
});

test('a slice may name the cluster IP of another Service', async () => {
  const other = await read(await have({ ports }));
  const name = await have({ ports });
  const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  const body = {
    metadata: { name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ port: 80 }],
    endpoints: [{ addresses: [other.spec.clusterIP] }],
  };
  assert.equal((await running.api.send({ method: 'POST', path, body })).status, 201);
});

test('the status of a manifest is not taken, as in the documentation’s example of a load balancer', async () => {
  const { status, body } = await running.api.send<Service>({
    method: 'POST',
    path: services,
    body: {
      metadata: { name: 'with-status' },
      spec: { type: 'LoadBalancer', ports },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.127' }] } },
    },
  });
  assert.equal(status, 201);
  assert.deepEqual(body.status, { loadBalancer: {} });
});

test('external IPs may stand on each type that has a cluster IP, and stay as they are given', async () => {
  for (const type of ['ClusterIP', 'NodePort', 'LoadBalancer']) {
    const { spec } = await read(await have({ type, ports, externalIPs: ['198.51.100.32'] }));
    assert.deepEqual(spec.externalIPs, ['198.51.100.32'], type);
  }
});

test('the annotation for external traffic of older versions means nothing', async () => {
  const annotations = { 'service.beta.kubernetes.io/external-traffic': 'OnlyLocal' };
  const { spec } = await read(await have({ type: 'LoadBalancer', ports }, { annotations }));
  assert.deepEqual([spec.externalTrafficPolicy, spec.healthCheckNodePort], ['Cluster', undefined]);
});
