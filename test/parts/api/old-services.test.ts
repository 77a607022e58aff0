// Services as versions before lists of addresses stored them: read as if they were of today, and stored so by the next write (API-61).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { ObjectList } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const limit = { timeout: 30_000 };
const services = '/api/v1/namespaces/default/services';
const keyOf = (name: string): string => `/registry/services/default/${name}`;
let running: MemoryServer;

before(async () => {
  running = await startMemoryServer();
});
after(() => running.stop());

const oldService = (name: string, clusterIP: string): object => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: { name, namespace: 'default', uid: `uid-${name}`, labels: { age: 'old' } },
  spec: {
    type: 'ClusterIP',
    clusterIP,
    selector: { app: name },
    ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
    sessionAffinity: 'None',
  },
  status: { loadBalancer: {} },
});

const write = async (name: string, clusterIP: string): Promise<void> => {
  const value = Buffer.from(JSON.stringify(oldService(name, clusterIP)));
  await running.store.transact({ compare: [], write: [{ put: keyOf(name), value }] });
};

const stackOf = ({ spec }: Service) => [spec.clusterIPs, spec.ipFamilies, spec.ipFamilyPolicy];

test('a get, a list and a watch show it complete', limit, async () => {
  const watch = await running.api.watch<Service>(`${services}?watch=true&labelSelector=age%3Dold`);
  await write('web', '10.96.77.1');
  await write('peers', 'None');
  await watch.until((seen) => seen.length === 2);
  watch.close();
  const wanted = [
    [['10.96.77.1'], ['IPv4'], 'SingleStack'],
    [['None'], ['IPv4'], 'SingleStack'],
  ];
  const { items } = await running.api.get<ObjectList<Service>>(`${services}?labelSelector=age=old`);
  assert.deepEqual(items.map(stackOf), wanted.toReversed());
  assert.deepEqual(
    watch.events.map(({ object }) => stackOf(object)),
    wanted,
  );
  assert.deepEqual(stackOf(await running.api.get<Service>(`${services}/web`)), wanted[0]);
});

test('a server that starts shows it complete, and the next write stores it so', limit, async () => {
  const another = await startMemoryServer({ store: running.store });
  try {
    const path = `${services}/web`;
    const { api } = another;
    assert.deepEqual((await api.get<Service>(path)).spec.ipFamilies, ['IPv4']);
    await api.patch(path, { metadata: { labels: { age: 'new' } } });
    const [stored] = (await running.store.list(keyOf('web'))).entries;
    const { spec } = JSON.parse(Buffer.from(stored?.value ?? '').toString('utf8')) as Service;
    assert.deepEqual([spec.clusterIPs, spec.ipFamilies], [['10.96.77.1'], ['IPv4']]);
  } finally {
    another.api.close();
    await another.server.stop();
  }
});
