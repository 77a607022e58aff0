// What the endpoint controllers leave alone, what they delete, and what they do when the API server refuses.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Transport, TransportResponse } from '../../../src/client/transport.ts';
import { endpointSliceController } from '../../../src/controllers/endpoint-slice/run.ts';
import { endpointSliceMirroringController } from '../../../src/controllers/endpoint-slice-mirroring/run.ts';
import { endpointsController } from '../../../src/controllers/endpoints/run.ts';
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import type { Endpoints } from '../../../src/kinds/endpoints/types.ts';
import { type ControllerHarness, startControllerHarness } from '../harness/controller-harness.ts';

const at = '/api/v1/namespaces/default';
const slicesAt = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const managedBy = 'endpointslice.kubernetes.io/managed-by';
const selecting = { selector: { app: 'web' }, ports: [{ port: 80 }] };
const byHand = { ports: [{ port: 80 }] };
const subsets = [{ addresses: [{ ip: '10.9.0.1' }], ports: [{ port: 80 }] }];

type Refusal = { readonly path: string; readonly body: object };

async function start(t: TestContext, refuse?: Refusal) {
  const posts: string[] = [];
  const harness = await startControllerHarness({
    controllers: [endpointsController, endpointSliceController, endpointSliceMirroringController],
    intercept: (send) => (request) => {
      if (request.method !== 'POST' || request.path.endsWith('/events')) return send(request);
      posts.push(request.path);
      return refuse?.path === request.path ? refused(refuse.body) : send(request);
    },
  });
  t.after(harness.stop);
  await harness.api.post('/api/v1/nodes', { metadata: { name: 'n1' } });
  const service = (name: string, spec: object) =>
    harness.api.post(`${at}/services`, { metadata: { name }, spec });
  const slices = async (): Promise<readonly EndpointSlice[]> =>
    (await harness.list<EndpointSlice>(slicesAt)).filter(
      ({ metadata }) => metadata.name !== 'kubernetes',
    );
  return { ...harness, posts, service, slices };
}

function refused(body: object): ReturnType<Transport['send']> {
  const response: TransportResponse = {
    status: 403,
    headers: { 'content-type': 'application/json' },
    body: (async function* () {
      yield new TextEncoder().encode(JSON.stringify({ kind: 'Status', code: 403, ...body }));
    })(),
  };
  return Promise.resolve(response);
}

async function addPod({ api }: ControllerHarness, name: string, ip: string): Promise<void> {
  await api.post(`${at}/pods`, {
    metadata: { name, labels: { app: 'web' } },
    spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
  });
  const conditions = [{ type: 'Ready', status: 'True' }];
  await api.patch(`${at}/pods/${name}/status`, {
    status: { podIP: ip, podIPs: [{ ip }], conditions },
  });
}

const addressesOf = (all: readonly EndpointSlice[]) =>
  all.flatMap(({ endpoints }) => endpoints ?? []).flatMap(({ addresses }) => addresses ?? []);

test('a Service without selector gets no objects, and those of others stay (EPC-02, EPS-08, EPS-36)', async (t) => {
  const { api, service, slices, clock } = await start(t);
  const labels = { 'kubernetes.io/service-name': 'own', [managedBy]: 'me' };
  await api.post(slicesAt, { metadata: { name: 'mine', labels }, addressType: 'IPv4' });
  await service('bare', byHand);
  await service('own', selecting);
  await clock.advance(10_000);
  const found = await slices();
  assert.deepEqual(found.map(({ metadata }) => metadata.labels?.[managedBy]).sort(), [
    'endpointslice-controller.k8s.io',
    'me',
  ]);
  assert.equal(
    (await api.send({ method: 'GET', path: `${at}/endpoints/bare` })).status,
    404,
    'no Endpoints',
  );
});

for (const [what, spec] of [
  ['turns ExternalName', { type: 'ExternalName', externalName: 'a.example' }],
  ['loses its selector', { selector: null }],
] as const) {
  test(`a Service that ${what} keeps its objects without further updates (EPC-14, EPS-08)`, async (t) => {
    const parts = await start(t);
    const { api, service, slices, until, clock } = parts;
    await addPod(parts, 'a', '10.1.0.1');
    await service('web', selecting);
    await until('the first pod is listed', async () => addressesOf(await slices()).length === 1);
    await until('the first pod is in the Endpoints', async () => {
      const path = `${at}/endpoints/web`;
      return (await api.send<Endpoints>({ method: 'GET', path })).body.subsets?.length === 1;
    });
    await api.patch(`${at}/services/web`, { spec });
    await clock.advance(1000);
    await addPod(parts, 'b', '10.1.0.2');
    await clock.advance(10_000);
    const own = (await slices()).filter(
      ({ metadata }) => metadata.labels?.[managedBy] === 'endpointslice-controller.k8s.io',
    );
    assert.deepEqual(addressesOf(own), ['10.1.0.1']);
    const endpoints = await api.get<Endpoints>(`${at}/endpoints/web`);
    assert.deepEqual(
      endpoints.subsets?.map(({ addresses }) => addresses?.length),
      [1],
    );
  });
}

const leader = { 'control-plane.alpha.kubernetes.io/leader': '{}' };
const ends: readonly [string, (parts: ControllerHarness) => Promise<unknown>][] = [
  ['its Endpoints are deleted (MIR-08)', ({ api }) => api.delete(`${at}/endpoints/web`)],
  [
    'its service gains a selector (MIR-02, MIR-08)',
    ({ api }) => api.patch(`${at}/services/web`, { spec: { selector: { app: 'none' } } }),
  ],
  ['its service is deleted (MIR-02)', ({ api }) => api.delete(`${at}/services/web`)],
  [
    'its Endpoints ask not to be mirrored (MIR-02)',
    ({ api }) =>
      api.patch(`${at}/endpoints/web`, {
        metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
      }),
  ],
  [
    'its Endpoints serve an election (MIR-02)',
    ({ api }) => api.patch(`${at}/endpoints/web`, { metadata: { annotations: leader } }),
  ],
];

for (const [when, end] of ends) {
  test(`a mirrored slice is deleted when ${when}`, async (t) => {
    const parts = await start(t);
    const { api, service, slices, until } = parts;
    await service('web', byHand);
    await api.post(`${at}/endpoints`, { metadata: { name: 'web' }, subsets });
    const mirrors = async () =>
      (await slices()).filter(
        ({ metadata }) =>
          metadata.labels?.[managedBy] === 'endpointslicemirroring-controller.k8s.io',
      ).length;
    await until('there is a mirror', async () => (await mirrors()) === 1);
    await end(parts);
    await until('the mirror is gone', async () => (await mirrors()) === 0);
  });
}

type Event = {
  readonly reason: string;
  readonly type: string;
  readonly involvedObject: { readonly kind: string };
};

test('Endpoints that cannot be created cause events and are tried sixteen times (EPC-15, EPC-16)', async (t) => {
  const refuse = { path: `${at}/endpoints`, body: { reason: 'Forbidden', message: 'no' } };
  const { service, posts, clock, list } = await start(t, refuse);
  await service('web', selecting);
  const tries = () => posts.filter((path) => path === refuse.path).length;
  await clock.advance(5 + 10 + 20);
  assert.equal(tries(), 4);
  await clock.advance(5 * (2 ** 15 - 1));
  assert.equal(tries(), 16);
  await clock.advance(1_000_000);
  assert.equal(tries(), 16);
  const [event] = await list<Event>(`${at}/events`);
  assert.deepEqual(
    [event?.type, event?.reason, event?.involvedObject.kind],
    ['Warning', 'FailedToCreateEndpoint', 'Endpoints'],
  );
});

test('refusals of a terminating namespace are ignored (EPC-15)', async (t) => {
  const causes = [{ reason: 'NamespaceTerminating', message: 'default is being terminated' }];
  const body = { reason: 'Forbidden', message: 'no', details: { causes } };
  const { service, posts, clock, list } = await start(t, { path: `${at}/endpoints`, body });
  await service('web', selecting);
  await clock.advance(10_000);
  assert.equal(posts.filter((path) => path === `${at}/endpoints`).length, 1);
  assert.deepEqual(await list<Event>(`${at}/events`), []);
});

for (const [who, spec, id] of [
  ['slices', selecting, 'EPS-26, EPS-27'],
  ['mirrors', byHand, 'MIR-09'],
] as const) {
  test(`${who} that cannot be created are retried after one, two and four seconds (${id})`, async (t) => {
    const refuse = { path: slicesAt, body: { reason: 'Forbidden', message: 'no' } };
    const { api, service, posts, clock, list } = await start(t, refuse);
    await service('web', spec);
    if (who === 'mirrors') {
      await api.post(`${at}/endpoints`, { metadata: { name: 'web' }, subsets });
    }
    const tries: number[] = [];
    for (const waitMs of [100, 800, 200, 1800, 200, 3800, 200]) {
      await clock.advance(waitMs);
      tries.push(posts.filter((path) => path === slicesAt).length);
    }
    assert.deepEqual(tries, [1, 1, 2, 2, 3, 3, 4]);
    const reasons = (await list<Event>(`${at}/events`)).map(({ reason }) => reason);
    assert.equal(reasons.includes('FailedToUpdateEndpointSlices'), who === 'slices');
  });
}

test('reads and writes of Endpoints return a deprecation warning (EPC-17)', async (t) => {
  const { api } = await start(t);
  const text = 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice';
  const object = { metadata: { name: 'own' }, subsets };
  for (const call of [
    { method: 'POST', path: `${at}/endpoints`, body: object },
    { method: 'GET', path: `${at}/endpoints/own` },
    { method: 'GET', path: `${at}/endpoints` },
    { method: 'PUT', path: `${at}/endpoints/own`, body: object },
    { method: 'DELETE', path: `${at}/endpoints/own` },
  ]) {
    const { headers } = await api.send(call);
    assert.equal(headers.warning, `299 - "${text}"`, call.method);
  }
});
