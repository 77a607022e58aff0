// What upstream's conformance tests of Services do to the API, with the controllers that answer them. What packets do is tried in
// test/netns, names in the tests of the DNS server. Time stands still until a test moves it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { endpointSliceController } from '../../../src/controllers/endpoint-slice/run.ts';
import { endpointSliceMirroringController } from '../../../src/controllers/endpoint-slice-mirroring/run.ts';
import { endpointsController } from '../../../src/controllers/endpoints/run.ts';
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import type { Endpoints } from '../../../src/kinds/endpoints/types.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import { readAllocations } from '../harness/allocation-checks.ts';
import { type ControllerHarness, startControllerHarness } from '../harness/controller-harness.ts';

const namespace = '/api/v1/namespaces/conformance';
const services = `${namespace}/services`;
const slicesPath = '/apis/discovery.k8s.io/v1/namespaces/conformance/endpointslices';

let harness: ControllerHarness;
before(async () => {
  const controllers = [
    endpointsController,
    endpointSliceController,
    endpointSliceMirroringController,
  ];
  harness = await startControllerHarness({ controllers });
  await harness.makeNamespace('conformance');
  await harness.api.post('/api/v1/nodes', { metadata: { name: 'n1' } });
});
after(() => harness.stop());

type Spec = Readonly<Record<string, unknown>>;
const make = (name: string, spec: Spec, labels: object = {}): Promise<Service> =>
  harness.api.post(services, { metadata: { name, labels }, spec });
const change = (name: string, spec: Spec): Promise<Service> =>
  harness.api.patch(`${services}/${name}`, { spec });

const external = { type: 'ExternalName', externalName: 'foo.example.com' };
const ports = [{ port: 80, targetPort: 9376 }];

/** Type, whether it has an address, whether it has a node port, and its external name. */
const shape = ({ spec }: Service): string =>
  [
    spec.type,
    spec.clusterIP === undefined ? 'no address' : 'address',
    spec.ports?.[0]?.nodePort === undefined ? 'no node port' : 'node port',
    spec.externalName ?? 'no name',
  ].join(', ');

const typeChanges: readonly [string, Spec, Spec, string][] = [
  [
    'ExternalName to ClusterIP',
    external,
    { type: 'ClusterIP', externalName: null, ports },
    'ClusterIP, address, no node port, no name',
  ],
  [
    'ExternalName to NodePort',
    external,
    { type: 'NodePort', externalName: null, ports },
    'NodePort, address, node port, no name',
  ],
  [
    'ClusterIP to ExternalName',
    { type: 'ClusterIP', ports },
    external,
    'ExternalName, no address, no node port, foo.example.com',
  ],
  [
    'NodePort to ExternalName',
    { type: 'NodePort', ports },
    external,
    'ExternalName, no address, no node port, foo.example.com',
  ],
];

for (const [what, from, to, wanted] of typeChanges) {
  test(`a Service changes from ${what} (CNF-01)`, async () => {
    await make('turning', from);
    assert.equal(shape(await change('turning', to)), wanted);
    await harness.api.delete(`${services}/turning`);
    const { addresses, ports: held } = await readAllocations(harness.server.store);
    assert.deepEqual([[...addresses.keys()], [...held]], [['10.96.0.1'], []]);
  });
}

for (const type of ['ClusterIP', 'NodePort']) {
  test(`session affinity of a ${type} Service is switched on and off (CNF-02)`, async () => {
    const { spec } = await make('sticky', { type, ports, sessionAffinity: 'ClientIP' });
    const day = { clientIP: { timeoutSeconds: 10800 } };
    assert.deepEqual([spec.sessionAffinity, spec.sessionAffinityConfig], ['ClientIP', day]);
    const off = (await change('sticky', { sessionAffinity: 'None' })).spec;
    assert.deepEqual([off.sessionAffinity, off.sessionAffinityConfig], ['None', undefined]);
    const again = (await change('sticky', { sessionAffinity: 'ClientIP' })).spec;
    assert.deepEqual([again.sessionAffinityConfig, again.clusterIP], [day, spec.clusterIP]);
    await harness.api.delete(`${services}/sticky`);
  });
}

/** `name address:ports`, as Endpoints and slices say it. */
async function endpointsOf(name: string): Promise<readonly [string, string]> {
  const read = await harness.api.send<Endpoints>({
    method: 'GET',
    path: `${namespace}/endpoints/${name}`,
  });
  const subsets = (read.body.subsets ?? []).flatMap(({ addresses = [], ports: own = [] }) =>
    addresses.flatMap(({ ip }) => own.map((p) => `${ip}:${p.port}/${p.protocol}`)),
  );
  const label = encodeURIComponent(`kubernetes.io/service-name=${name}`);
  const slices = await harness.list<EndpointSlice>(`${slicesPath}?labelSelector=${label}`);
  const listed = slices.flatMap(({ endpoints, ports: own }) =>
    (endpoints ?? [])
      .flatMap(({ addresses }) => addresses ?? [])
      .flatMap((ip) => (own ?? []).map((p) => `${ip}:${p.port}/${p.protocol}`)),
  );
  return [subsets.sort().join(' '), listed.sort().join(' ')];
}

const leadTo = (name: string, wanted: string): Promise<void> =>
  harness.until(`${name} leads to ${wanted}`, async () =>
    (await endpointsOf(name)).every((found) => found === wanted),
  );

async function makePod(name: string, ip: string, containerPorts: readonly object[]): Promise<void> {
  await harness.api.post(`${namespace}/pods`, {
    metadata: { name, labels: { app: 'web' } },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i', ports: containerPorts }] },
  });
  await harness.api.patch(`${namespace}/pods/${name}/status`, {
    status: {
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  });
}

test('endpoints follow pods that come and go, over several ports and protocols (CNF-03, CNF-04)', async () => {
  const named = [
    { name: 'web', port: 80, targetPort: 'http' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 5353 },
    { name: 'dns-udp', port: 53, protocol: 'UDP', targetPort: 5353 },
  ];
  await make('many', { selector: { app: 'web' }, ports: named });
  await leadTo('many', '');
  const http = [{ name: 'http', containerPort: 8080 }];
  await makePod('one', '10.1.0.1', http);
  const one = '10.1.0.1:5353/TCP 10.1.0.1:5353/UDP 10.1.0.1:8080/TCP';
  await leadTo('many', one);
  await makePod('two', '10.1.0.2', http);
  await leadTo('many', `${one} ${one.replaceAll('10.1.0.1', '10.1.0.2')}`);
  await harness.api.delete(`${namespace}/pods/one?gracePeriodSeconds=0`);
  await leadTo('many', one.replaceAll('10.1.0.1', '10.1.0.2'));
  await harness.api.delete(`${namespace}/pods/two?gracePeriodSeconds=0`);
  await leadTo('many', '');
  await harness.api.delete(`${services}/many`);
  await harness.until('its slices go', async () => {
    const [, listed] = await endpointsOf('many');
    return listed === '' && (await harness.isGone(`${namespace}/endpoints/many`));
  });
});

test('Endpoints that a person writes are mirrored, changed and taken away (CNF-04)', async () => {
  const path = `${namespace}/endpoints`;
  await make('custom', { ports });
  const subsets = (ip: string) => [{ addresses: [{ ip }], ports: [{ port: 80 }] }];
  await harness.api.post(path, { metadata: { name: 'custom' }, subsets: subsets('10.1.2.3') });
  await leadTo('custom', '10.1.2.3:80/TCP');
  await harness.api.patch(`${path}/custom`, { subsets: subsets('10.2.3.4') });
  await leadTo('custom', '10.2.3.4:80/TCP');
  await harness.api.delete(`${path}/custom`);
  await leadTo('custom', '');
  await harness.api.delete(`${services}/custom`);
});

test('a Service is found over all namespaces, has a status of its own, and goes with its collection (CNF-03)', async () => {
  const labels = { 'test-service': 'static' };
  for (const name of ['a', 'b', 'c']) await make(name, { ports }, name === 'c' ? {} : labels);
  const everywhere = await harness.list<Service>(
    '/api/v1/services?labelSelector=test-service%3Dstatic',
  );
  assert.deepEqual(
    everywhere.map(({ metadata }) => metadata.name),
    ['a', 'b'],
  );
  const condition = {
    type: 'StatusUpdate',
    status: 'True',
    reason: 'E2E',
    message: 'Set from a test',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const annotations = { patchedstatus: 'true' };
  const status = { conditions: [condition] };
  const written = await harness.api.patch<Service>(`${services}/a/status`, {
    metadata: { annotations },
    status,
  });
  assert.deepEqual(
    [written.metadata.annotations, written.status.conditions],
    [annotations, [condition]],
  );
  const put = {
    ...written,
    status: { ...written.status, conditions: [{ ...condition, status: 'False' }] },
  };
  const updated = await harness.api.put<Service>(`${services}/a/status`, put);
  assert.equal(updated.status.conditions?.[0]?.status, 'False');
  await harness.api.delete(`${services}?labelSelector=test-service%3Dstatic`);
  const left = await harness.list<Service>(services);
  assert.deepEqual(
    left.map(({ metadata }) => metadata.name),
    ['c'],
  );
  await harness.api.delete(`${services}/c`);
});

test('of 200 Services half have their endpoints after 20 s and nearly all after 50 s (CNF-06)', async () => {
  await makePod('behind-all', '10.1.0.9', []);
  const begun = harness.clock.now();
  const names = Array.from({ length: 200 }, (_, i) => `latency-${i}`);
  await Promise.all(names.map((name) => make(name, { selector: { app: 'web' }, ports })));
  const seen = async (): Promise<number> => {
    const all = await harness.list<Endpoints>(`${namespace}/endpoints`);
    return all.filter(({ metadata, subsets = [] }) =>
      metadata.name?.startsWith('latency-') ? subsets.length > 0 : false,
    ).length;
  };
  await harness.until('half are seen', async () => (await seen()) >= 100, 20_000);
  await harness.until(
    'nearly all are seen',
    async () => (await seen()) >= 198,
    50_000 - (harness.clock.now() - begun),
  );
});
