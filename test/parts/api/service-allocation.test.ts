// Addresses and node ports under races: each is given once, and what is given back is free.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Service } from '../../../src/kinds/service/types.ts';
import { assertExact, readAllocations } from '../harness/allocation-checks.ts';
import type { Answer } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const path = '/api/v1/namespaces/default/services';
/** 200 ports: fewer than the services that want one. */
const portCount = 200;
const requests = 500;

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer({ nodePorts: `30000-${30000 + portCount - 1}` });
});
after(() => running.stop());

/** As a client writes it, right or wrong. */
type Spec = Readonly<Record<string, unknown>>;

const ports = [{ port: 80 }];
const body = (name: string, spec: Spec = {}): unknown => ({
  metadata: { name },
  spec: { ports, ...spec },
});

const create = (name: string, spec?: Spec): Promise<Answer<Service>> =>
  running.api.send<Service>({ method: 'POST', path, body: body(name, spec) });

async function removeAll(): Promise<void> {
  await running.api.delete(`${path}?labelSelector=!provider`);
  const { items } = await running.api.get<{ items: readonly Service[] }>(path);
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['kubernetes'],
  );
}

/** What the server itself holds: the service that leads to it. */
async function assertAllFree(): Promise<void> {
  const { addresses, ports: held } = await readAllocations(running.store);
  assert.deepEqual([...addresses], [['10.96.0.1', 'default/kubernetes']]);
  assert.deepEqual([...held], []);
}

const statuses = (answers: readonly Answer<unknown>[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

test('of many that want one cluster IP, one gets it', async () => {
  const clusterIP = '10.96.7.7';
  const names = Array.from({ length: 20 }, (_, i) => `ip-${i}`);
  const answers = await Promise.all(names.map((name) => create(name, { clusterIP })));
  assert.deepEqual(statuses(answers), { 201: 1, 422: 19 });
  const refused = answers.find(({ status }) => status === 422);
  assert.match(JSON.stringify(refused?.body), /provided IP is already allocated/);
  await assertExact(running.store);
  await removeAll();
  await assertAllFree();
});

test('of many that want one node port, one gets it', async () => {
  const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30007 }] };
  const names = Array.from({ length: 20 }, (_, i) => `port-${i}`);
  const answers = await Promise.all(names.map((name) => create(name, spec)));
  assert.deepEqual(statuses(answers), { 201: 1, 422: 19 });
  const refused = answers.find(({ status }) => status === 422);
  assert.match(JSON.stringify(refused?.body), /provided port is already allocated/);
  await assertExact(running.store);
  await removeAll();
  await assertAllFree();
});

test('of many that change to one node port, one gets it and the others keep theirs', async () => {
  const names = Array.from({ length: 10 }, (_, i) => `change-${i}`);
  for (const name of names) await create(name, { type: 'NodePort' });
  const patch = { spec: { ports: [{ port: 80, nodePort: 30003 }] } };
  const answers = await Promise.all(
    names.map((name) =>
      running.api.send<Service>({
        method: 'PATCH',
        path: `${path}/${name}`,
        body: patch,
        headers: { 'content-type': 'application/merge-patch+json' },
      }),
    ),
  );
  assert.deepEqual(statuses(answers), { 200: 1, 422: 9 });
  await assertExact(running.store);
  assert.equal((await readAllocations(running.store)).ports.size, names.length);
  await removeAll();
  await assertAllFree();
});

test(`of ${requests} services at once exactly ${portCount} find a node port`, async () => {
  const names = Array.from({ length: requests }, (_, i) => `many-${i}`);
  const answers = await Promise.all(names.map((name) => create(name, { type: 'NodePort' })));
  assert.deepEqual(statuses(answers), { 201: portCount, 500: requests - portCount });
  for (const { status, body: answer } of answers) {
    if (status === 500) assert.match(JSON.stringify(answer), /range is full/);
  }
  const held = new Set(answers.flatMap(({ body: { spec } }) => spec?.ports?.[0]?.nodePort ?? []));
  assert.equal(held.size, portCount);
  await assertExact(running.store);
  await removeAll();
  await assertAllFree();
});

test('the same number of services fits again after all were deleted', async () => {
  for (let round = 0; round < 2; round++) {
    const names = Array.from({ length: portCount }, (_, i) => `again-${i}`);
    const answers = await Promise.all(names.map((name) => create(name, { type: 'NodePort' })));
    assert.deepEqual(statuses(answers), { 201: portCount });
    await removeAll();
    await assertAllFree();
  }
});

const refusedSpecs: Readonly<Record<string, Spec>> = {
  'a port that is none': { ports: [{ port: 70000 }] },
  'an affinity that is none': { sessionAffinity: 'Bogus' },
  'a second port without a name': { type: 'NodePort', ports: [{ port: 80 }, { port: 81 }] },
  'an address outside of the range': { clusterIP: '10.200.0.1', type: 'NodePort' },
  'a node port outside of the range': { type: 'NodePort', ports: [{ port: 80, nodePort: 1 }] },
};

for (const [what, spec] of Object.entries(refusedSpecs)) {
  test(`a service refused for ${what} leaves nothing allocated`, async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, i) => create(`refused-${i}`, spec)),
    );
    assert.deepEqual(statuses(answers), { 422: 5 });
    await assertAllFree();
  });
}

test('a name that exists leaves nothing allocated', async () => {
  await create('taken', { type: 'NodePort' });
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => create('taken', { type: 'NodePort' })),
  );
  assert.deepEqual(statuses(answers), { 409: 10 });
  await assertExact(running.store);
  assert.equal((await readAllocations(running.store)).ports.size, 1);
  await removeAll();
  await assertAllFree();
});

test('of many creates of one name one wins and the others leave nothing', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => create('same', { type: 'NodePort' })),
  );
  assert.deepEqual(statuses(answers), { 201: 1, 409: 19 });
  await assertExact(running.store);
  await removeAll();
  await assertAllFree();
});

test('changes of type and family give back exactly what is no longer needed', async () => {
  const { api, store } = running;
  const patch = (spec: unknown): Promise<Service> => api.patch(`${path}/types`, { spec });
  await create('types', { type: 'NodePort' });
  await patch({ type: 'ClusterIP', ports });
  await assertExact(store);
  assert.equal((await readAllocations(store)).ports.size, 0);
  await patch({ ipFamilyPolicy: 'PreferDualStack' });
  await assertExact(store);
  assert.equal((await readAllocations(store)).addresses.size, 3);
  await patch({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
  await assertExact(store);
  assert.equal((await readAllocations(store)).ports.size, 2, 'one for traffic, one for health');
  await patch({ type: 'ExternalName', externalName: 'example.com', externalTrafficPolicy: null });
  await assertExact(store);
  await assertAllFree();
  await removeAll();
});

test('creates, changes and deletes at once leave services and records in step', async () => {
  const { api, store } = running;
  const types = ['ClusterIP', 'NodePort', 'LoadBalancer'] as const;
  const write = async (writer: number): Promise<void> => {
    for (let i = 0; i < 12; i++) {
      const name = `mix-${(writer * 7 + i) % 10}`;
      const type = types[(writer + i) % types.length] ?? 'ClusterIP';
      const target = `${path}/${name}`;
      if (i % 3 === 0) await create(name, { type });
      else if (i % 3 === 1) await api.send({ method: 'DELETE', path: target });
      else {
        const headers = { 'content-type': 'application/merge-patch+json' };
        await api.send({ method: 'PATCH', path: target, body: { spec: { type } }, headers });
      }
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, writer) => write(writer)));
  await assertExact(store);
  await removeAll();
  await assertAllFree();
});
