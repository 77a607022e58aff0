// The endpoint controllers against the real API server: what they write, and how often. Their clock stands still
// until a test moves it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import { endpointSliceController } from '../../../src/controllers/endpoint-slice/run.ts';
import { endpointSliceMirroringController } from '../../../src/controllers/endpoint-slice-mirroring/run.ts';
import { endpointsController } from '../../../src/controllers/endpoints/run.ts';
import { startControllers } from '../../../src/controllers/run.ts';
import { createFakeClock } from '../../../src/host/fake-clock.ts';
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import type { Endpoints } from '../../../src/kinds/endpoints/types.ts';
import { silentLog } from '../../../src/observe/log.ts';
import type { ApiClient, ObjectList } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

let shared: MemoryServer;
before(async () => {
  shared = await startMemoryServer();
  await shared.api.post('/api/v1/nodes', { metadata: { name: 'n1' } });
});
after(() => shared.stop());

type Running = {
  readonly clock: ReturnType<typeof createFakeClock>;
  /** `PUT endpoints`, `POST endpointslices` and so on, in the order in which the controllers sent them. */
  readonly writes: string[];
  readonly stop: () => Promise<void>;
};

function startEndpointControllers({ server }: MemoryServer): Running {
  const clock = createFakeClock(Date.now());
  const writes: string[] = [];
  const call = createLocalCall(server.handle, { user: 'controllers', groups: ['system:masters'] });
  const stopping = new AbortController();
  const running = startControllers({
    transport: {
      send(request) {
        const [resource] = request.path.match(/endpoints(?=[/?]|$)|endpointslices/) ?? [];
        if (request.method !== 'GET' && resource) writes.push(`${request.method} ${resource}`);
        return call(request);
      },
      close: () => Promise.resolve(),
    },
    controllers: [endpointsController, endpointSliceController, endpointSliceMirroringController],
    log: silentLog,
    authorityCertificate: '',
    signal: stopping.signal,
    clock,
  });
  return {
    clock,
    writes,
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** A namespace of its own, with running controllers. */
async function withControllers(
  name: string,
  body: (parts: Running & { api: ApiClient; at: string; slices: string }) => Promise<void>,
): Promise<void> {
  await shared.api.post('/api/v1/namespaces', { metadata: { name } });
  const running = startEndpointControllers(shared);
  await running.clock.settle();
  try {
    await body({
      ...running,
      api: shared.api,
      at: `/api/v1/namespaces/${name}`,
      slices: `/apis/discovery.k8s.io/v1/namespaces/${name}/endpointslices`,
    });
  } finally {
    await running.stop();
  }
}

/** Far more than any test here needs; afterwards the test fails. */
const maxChecks = 500;

async function eventually(clock: Running['clock'], holds: () => Promise<boolean>): Promise<void> {
  for (let check = 0; check < maxChecks; check += 1) {
    if (await holds()) return;
    await clock.settle();
  }
  assert.fail('the state was not reached');
}

const selecting = { selector: { app: 'web' }, ports: [{ port: 80 }] };
const pod = (name: string) => ({
  metadata: { name, labels: { app: 'web' } },
  spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
});
const ready = (ip: string) => ({
  status: { podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: 'True' }] },
});

/** Ready addresses in the Endpoints of the Service `web`. */
async function addressesOf(api: ApiClient, at: string): Promise<readonly string[]> {
  const { subsets } = await api.get<Endpoints>(`${at}/endpoints/web`);
  return (subsets?.[0]?.addresses ?? []).map(({ ip }) => ip ?? '');
}

async function listed(api: ApiClient, path: string): Promise<readonly (number | undefined)[]> {
  const { items } = await api.get<ObjectList<EndpointSlice>>(path);
  return items.map(({ endpoints }) => endpoints?.length ?? 0);
}

test('a burst of pods causes one write of each object, and its watch event none (EPC-12, EPS-25)', () =>
  withControllers('burst', async ({ api, at, slices, clock, writes }) => {
    await api.post(`${at}/services`, { metadata: { name: 'web' }, spec: selecting });
    await eventually(clock, async () => writes.length === 2);
    const names = Array.from({ length: 30 }, (_, i) => `p${i}`);
    await Promise.all(names.map((name) => api.post(`${at}/pods`, pod(name))));
    await Promise.all(
      names.map((name, i) => api.patch(`${at}/pods/${name}/status`, ready(`10.1.0.${i + 1}`))),
    );
    await clock.settle();
    assert.equal(writes.length, 2);
    await clock.advance(20);
    await eventually(clock, async () => (await listed(api, slices)).join() === '30');
    await eventually(clock, async () => (await addressesOf(api, at)).length === 30);
    await clock.advance(60_000);
    assert.deepEqual(writes.slice(2).sort(), ['PUT endpoints', 'PUT endpointslices']);
  }));

test('restarted controllers write nothing when nothing changed (EPC-12, EPS-14)', () =>
  withControllers('again', async ({ api, at, slices, clock, writes }) => {
    await api.post(`${at}/services`, { metadata: { name: 'web' }, spec: selecting });
    await api.post(`${at}/pods`, pod('p'));
    await api.patch(`${at}/pods/p/status`, ready('10.1.0.1'));
    await clock.advance(100);
    await eventually(clock, async () => (await listed(api, slices)).join() === '1');
    await eventually(clock, async () => (await addressesOf(api, at)).length === 1);
    const before = writes.length;
    const second = startEndpointControllers(shared);
    await second.clock.settle();
    await second.clock.advance(60_000);
    await second.stop();
    assert.deepEqual(second.writes, []);
    assert.equal(writes.length, before);
  }));

test('changes and deletions by others are reverted after a second (EPS-26)', () =>
  withControllers('foreign', async ({ api, at, slices, clock, writes }) => {
    await api.post(`${at}/services`, { metadata: { name: 'web' }, spec: selecting });
    await api.post(`${at}/pods`, pod('p'));
    await api.patch(`${at}/pods/p/status`, ready('10.1.0.1'));
    await clock.advance(100);
    await eventually(clock, async () => (await listed(api, slices)).join() === '1');
    await eventually(clock, async () => (await addressesOf(api, at)).length === 1);
    const done = writes.length;
    const [slice] = (await api.get<ObjectList<EndpointSlice>>(slices)).items;
    await api.patch(`${slices}/${slice?.metadata.name}`, {
      endpoints: [{ addresses: ['10.9.9.9'] }],
    });
    await api.delete(`${at}/endpoints/web`);
    await clock.settle();
    assert.equal(writes.length, done);
    await clock.advance(1000);
    await eventually(clock, async () => {
      const mended = await api.get<EndpointSlice>(`${slices}/${slice?.metadata.name}`);
      return mended.endpoints?.[0]?.addresses?.join() === '10.1.0.1';
    });
    await eventually(clock, async () => {
      const { status } = await api.send({ method: 'GET', path: `${at}/endpoints/web` });
      return status === 200 && (await addressesOf(api, at)).join() === '10.1.0.1';
    });
    assert.equal(writes.length, done + 2);
  }));

test('a pod whose node does not exist causes an event, and is added with the node (EPS-22, EPS-27)', () =>
  withControllers('no-node', async ({ api, at, slices, clock }) => {
    const lost = { ...pod('p'), spec: { ...pod('p').spec, nodeName: 'n-late' } };
    await api.post(`${at}/pods`, lost);
    await api.patch(`${at}/pods/p/status`, ready('10.1.0.1'));
    await api.post(`${at}/services`, { metadata: { name: 'web' }, spec: selecting });
    type Event = { readonly reason: string; readonly message: string };
    const events = async () => (await api.get<ObjectList<Event>>(`${at}/events`)).items;
    await eventually(clock, async () => (await events()).length === 1);
    assert.deepEqual(
      (await events()).map(({ reason, message }) => ({ reason, message })),
      [
        {
          reason: 'FailedToUpdateEndpointSlices',
          message:
            'Error updating Endpoint Slices for Service no-node/web: skipping Pod p for Service no-node/web: Node n-late Not Found',
        },
      ],
    );
    await eventually(clock, async () => (await listed(api, slices)).join() === '0');
    await api.post('/api/v1/nodes', { metadata: { name: 'n-late' } });
    await clock.settle();
    await clock.advance(20);
    await eventually(clock, async () => (await listed(api, slices)).join() === '1');
  }));

test('Endpoints of a deleted Service are deleted; those that never had one stay until the next start (EPC-13)', () =>
  withControllers('orphans', async ({ api, at, clock }) => {
    const exists = async (name: string) =>
      (await api.send({ method: 'GET', path: `${at}/endpoints/${name}` })).status === 200;
    await api.post(`${at}/endpoints`, { metadata: { name: 'own' } });
    await api.post(`${at}/services`, { metadata: { name: 'web' }, spec: selecting });
    await eventually(clock, () => exists('web'));
    await api.delete(`${at}/services/web`);
    await eventually(clock, async () => !(await exists('web')));
    assert.equal(await exists('own'), true);
    const second = startEndpointControllers(shared);
    await eventually(second.clock, async () => !(await exists('own')));
    await second.stop();
  }));

test('Endpoints with too many addresses are mirrored in part, with an event (MIR-04)', () =>
  withControllers('mirror', async ({ api, at, slices, clock }) => {
    await api.post(`${at}/services`, {
      metadata: { name: 'web' },
      spec: { ports: [{ port: 80 }] },
    });
    const addresses = Array.from({ length: 1001 }, (_, i) => ({ ip: `10.1.${i >> 8}.${i & 255}` }));
    const subsets = [{ addresses, ports: [{ port: 80 }] }];
    await api.post(`${at}/endpoints`, { metadata: { name: 'web' }, subsets });
    await eventually(clock, async () => (await listed(api, slices)).join() === '1000');
    type Event = { readonly message: string };
    const messages = async () =>
      (await api.get<ObjectList<Event>>(`${at}/events`)).items.map(({ message }) => message);
    await eventually(clock, async () => (await messages()).length > 0);
    assert.deepEqual(await messages(), [
      'A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped',
    ]);
  }));
