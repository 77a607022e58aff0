// A dry run answers as the write would, and changes nothing.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Service } from '../../../src/kinds/service/types.ts';
import { type Allocations, readAllocations } from '../harness/allocation-checks.ts';
import type { ApiCall } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const path = '/api/v1/namespaces/default/services';
const ports = [{ port: 80 }];
const mergePatch = { 'content-type': 'application/merge-patch+json' };

let running: MemoryServer;
let live: Service;
let held: Allocations;
before(async () => {
  running = await startMemoryServer();
  live = await running.api.post(path, {
    metadata: { name: 'live', finalizers: ['example.com/hold'] },
    spec: { type: 'NodePort', ports },
  });
  held = await readAllocations(running.store);
});
after(() => running.stop());

const calls: Readonly<Record<string, [wanted: number, call: () => ApiCall]>> = {
  'create of a service': [
    201,
    () => ({
      method: 'POST',
      path,
      body: { metadata: { name: 'new' }, spec: { type: 'NodePort', ports } },
    }),
  ],
  'create with a generated name': [
    201,
    () => ({ method: 'POST', path, body: { metadata: { generateName: 'new-' }, spec: { ports } } }),
  ],
  'create that fails': [
    422,
    () => ({ method: 'POST', path, body: { metadata: { name: 'new' }, spec: { ports: [] } } }),
  ],
  'patch of the type': [
    200,
    () => ({
      method: 'PATCH',
      path: `${path}/live`,
      body: { spec: { type: 'LoadBalancer', ipFamilyPolicy: 'PreferDualStack' } },
      headers: mergePatch,
    }),
  ],
  'patch that takes the last finalizer': [
    200,
    () => ({
      method: 'PATCH',
      path: `${path}/live`,
      body: { metadata: { finalizers: null } },
      headers: mergePatch,
    }),
  ],
  'update of the status': [
    200,
    () => ({
      method: 'PUT',
      path: `${path}/live/status`,
      body: { ...live, status: { loadBalancer: {}, conditions: [] } },
    }),
  ],
  'apply of a new object': [
    201,
    () => ({
      method: 'PATCH',
      path: `${path}/applied?fieldManager=me`,
      body: { apiVersion: 'v1', kind: 'Service', metadata: { name: 'applied' }, spec: { ports } },
      headers: { 'content-type': 'application/apply-patch+yaml' },
    }),
  ],
  delete: [200, () => ({ method: 'DELETE', path: `${path}/live` })],
  'delete of a collection': [200, () => ({ method: 'DELETE', path })],
};

for (const [what, [wanted, call]] of Object.entries(calls)) {
  test(`a dry run of ${what} changes nothing`, async () => {
    const { api, store } = running;
    const revision = await store.currentRevision();
    const request = call();
    const query = request.path.includes('?') ? '&dryRun=All' : '?dryRun=All';
    const { status, body } = await api.send({ ...request, path: request.path + query });
    assert.equal(status, wanted, JSON.stringify(body));
    assert.equal(await store.currentRevision(), revision);
    assert.deepEqual(await api.get(`${path}/live`), live);
    assert.deepEqual(await readAllocations(store), held);
  });
}

test('a dry run of a create shows the object without a version', async () => {
  const body = { metadata: { name: 'shown' }, spec: { type: 'NodePort', ports } };
  const made = await running.api.post<Service>(`${path}?dryRun=All`, body);
  assert.equal(made.metadata.resourceVersion, undefined);
  assert.notEqual(made.metadata.uid, undefined);
  assert.notEqual(made.spec.clusterIP, undefined);
});

test('dry runs at once with writes leave no trace', async () => {
  const { api, store } = running;
  const create = (name: string, query: string): Promise<{ readonly status: number }> =>
    api.send({
      method: 'POST',
      path: path + query,
      body: { metadata: { name }, spec: { type: 'NodePort', ports } },
    });
  const dry = Array.from({ length: 30 }, (_, i) => create(`both-${i}`, '?dryRun=All'));
  const real = Array.from({ length: 10 }, (_, i) => create(`both-${i}`, ''));
  await Promise.all(dry);
  const made = await Promise.all(real);
  assert.ok(made.every(({ status }) => status === 201));
  const { ports: taken, addresses } = await readAllocations(store);
  assert.equal(taken.size, held.ports.size + 10);
  assert.equal(addresses.size, held.addresses.size + 10);
});
