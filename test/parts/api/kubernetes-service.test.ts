// What a server makes at its start, and what it leaves of what another has made with other flags: the Service that leads to it and
// the range that this has its address from.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import type { Endpoints } from '../../../src/kinds/endpoints/types.ts';
import type { Event } from '../../../src/kinds/event/types.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { ServiceCIDR } from '../../../src/kinds/service-cidr/types.ts';
import type { ObjectList } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const namespace = '/api/v1/namespaces/default';
const own = `${namespace}/services/kubernetes`;
const range = '/apis/networking.k8s.io/v1/servicecidrs/kubernetes';

let first: MemoryServer;
before(async () => {
  first = await startMemoryServer({
    serviceCidrs: '10.96.0.0/24',
    access: { serviceNodePort: 30443 },
  });
});
after(() => first.stop());

/** Another server on the same store, for as long as the body takes. */
async function withAnother(
  serviceCidrs: string,
  act: (server: MemoryServer) => Promise<void>,
): Promise<void> {
  const another = await startMemoryServer({ store: first.store, serviceCidrs });
  try {
    await act(another);
  } finally {
    another.api.close();
    await another.server.stop();
  }
}

test('the Service has the first address, and the node port of the flag (KSV-01, KSV-02, KSV-03)', async () => {
  const { metadata, spec } = await first.api.get<Service>(own);
  assert.deepEqual(metadata.labels, { component: 'apiserver', provider: 'kubernetes' });
  const { port: targetPort } = first.server.address;
  assert.deepEqual(spec, {
    type: 'NodePort',
    clusterIP: '10.96.0.1',
    clusterIPs: ['10.96.0.1'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    internalTrafficPolicy: 'Cluster',
    externalTrafficPolicy: 'Cluster',
    sessionAffinity: 'None',
    ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort, nodePort: 30443 }],
  });
});

test('Endpoints and EndpointSlice have the address of the server, and no other manager (KSV-05, KSV-06)', async () => {
  const { port } = first.server.address;
  const ports = [{ name: 'https', port, protocol: 'TCP' }];
  const endpoints = await first.api.get<Endpoints>(`${namespace}/endpoints/kubernetes`);
  assert.deepEqual(endpoints.metadata.labels, {
    'endpointslice.kubernetes.io/skip-mirror': 'true',
  });
  assert.deepEqual(endpoints.subsets, [{ addresses: [{ ip: '192.0.2.1' }], ports }]);
  const slice = await first.api.get<EndpointSlice>(
    '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes',
  );
  assert.deepEqual(slice.metadata.labels, { 'kubernetes.io/service-name': 'kubernetes' });
  assert.deepEqual([slice.addressType, slice.ports], ['IPv4', ports]);
  assert.deepEqual(slice.endpoints, [{ addresses: ['192.0.2.1'], conditions: { ready: true } }]);
});

test('the range of the flag is there and ready (IPA-19)', async () => {
  const { spec, status } = await first.api.get<ServiceCIDR>(range);
  assert.deepEqual(spec.cidrs, ['10.96.0.0/24']);
  const [ready] = status.conditions ?? [];
  assert.deepEqual(
    [ready?.type, ready?.status, ready?.message],
    ['Ready', 'True', 'Kubernetes default Service CIDR is ready'],
  );
});

test('a server with a second family adds it, and gives its addresses; an edited Service stays (IPA-20, KSV-04)', async () => {
  await first.api.patch(own, { spec: { sessionAffinity: 'ClientIP' } });
  await withAnother('10.96.0.0/24,fd00:96::/108', async ({ api }) => {
    const { spec } = await api.get<ServiceCIDR>(range);
    assert.deepEqual(spec.cidrs, ['10.96.0.0/24', 'fd00:96::/108']);
    const made = await api.post<Service>(`${namespace}/services`, {
      metadata: { name: 'dual' },
      spec: { ipFamilyPolicy: 'RequireDualStack', ports: [{ port: 80 }] },
    });
    assert.match(made.spec.clusterIPs?.[1] ?? '', /^fd00:96::/);
    assert.equal((await api.get<Service>(own)).spec.sessionAffinity, 'ClientIP');
  });
});

test('a server that does not publish endpoints creates none (KSV-08)', async () => {
  const silent = await startMemoryServer({ access: { publishesEndpoints: false } });
  assert.equal((await silent.api.get<Service>(own)).spec.clusterIP, '10.96.0.1');
  const paths = [
    `${namespace}/endpoints/kubernetes`,
    '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes',
  ];
  for (const path of paths) {
    assert.equal((await silent.api.send({ method: 'GET', path })).status, 404);
  }
  await silent.stop();
});

test('a server with another range leaves the object, and says so once (IPA-20)', async () => {
  const events = await first.api.watch<Event>(`${namespace}/events?watch=true`);
  await withAnother('10.97.0.0/24', async ({ api }) => {
    await events.until((seen) => seen.length === 1);
    const { spec } = await api.get<ServiceCIDR>(range);
    assert.deepEqual(spec.cidrs, ['10.96.0.0/24', 'fd00:96::/108']);
    // What is given comes from the ranges that there are, not from flags.
    const made = await api.post<Service>(`${namespace}/services`, {
      metadata: { name: 'plain' },
      spec: { ports: [{ port: 80 }] },
    });
    assert.match(made.spec.clusterIP ?? '', /^10\.96\.0\./);
  });
  events.close();
  const { items } = await first.api.get<ObjectList<Event>>(`${namespace}/events`);
  assert.deepEqual(
    items.map((e) => [e.involvedObject.kind, e.type, e.reason, e.source?.component, e.message]),
    [
      [
        'ServiceCIDR',
        'Warning',
        'KubernetesDefaultServiceCIDRInconsistent',
        'kubernetes-service-cidr-controller',
        'The default ServiceCIDR [10.96.0.0/24 fd00:96::/108] does not match the controller flag configurations [10.97.0.0/24]',
      ],
    ],
  );
});
