// Node ports that the store and the services disagree about, as another program may have left them: a server that
// starts on them mends what it can and tells of the rest. Safe while other servers write.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { nodePortKey, nodePortValue } from '../../../src/apiserver/allocators/node-port-view.ts';
import type { Event } from '../../../src/kinds/event/types.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { Write } from '../../../src/storage/store.ts';
import { assertExact, portPrefix, readAllocations } from '../harness/allocation-checks.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const services = '/api/v1/namespaces/default/services';
let first: MemoryServer;
before(async () => {
  first = await startMemoryServer({ nodePorts: '30000-30199' });
});
after(() => first.stop());

const body = (name: string, nodePort?: number) => ({
  metadata: { name },
  spec: {
    type: 'NodePort',
    ports: [{ port: 80, ...(nodePort === undefined ? {} : { nodePort }) }],
  },
});

/** A second server on the same store, for as long as the body takes. */
async function withAnother(
  nodePorts: string,
  act: (server: MemoryServer) => Promise<void>,
): Promise<void> {
  const another = await startMemoryServer({ store: first.store, nodePorts });
  try {
    await act(another);
  } finally {
    another.api.close();
    await another.server.stop();
  }
}

const checkIntervalMs = 180_000;
const keptPorts = async (): Promise<readonly string[]> =>
  (await first.store.list(portPrefix)).entries.map(({ key }) => key.slice(portPrefix.length));

const past = async (...write: readonly Write[]): Promise<void> =>
  void (await first.store.transact({ compare: [], write }));

test('what was lost is taken again at once, what leaked is freed on the third look (NPT-15)', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  await first.api.post(services, body('lost', 30001));
  await first.api.post(services, body('robbed', 30002));
  await past(
    { delete: nodePortKey(30001) },
    { put: nodePortKey(30002), value: nodePortValue('default/missing') },
    { put: nodePortKey(30003), value: nodePortValue('default/gone') },
    { put: nodePortKey(30004), value: Buffer.from('not for us') },
  );
  const events = await first.api.watch<Event>('/api/v1/namespaces/default/events?watch=true');
  await withAnother('30000-30199', async () => {
    await events.until((seen) => seen.length === 2);
    assert.deepEqual(await keptPorts(), ['30001', '30002', '30003', '30004']);
    t.mock.timers.tick(2 * checkIntervalMs);
    // A store in memory answers before anything else gets its turn; a request lets the look go on.
    while ((await keptPorts()).length > 2) await first.api.get(services);
  });
  events.close();
  const reported = events.events.map(
    ({ object }) => `${object.involvedObject.name}: ${object.message}`,
  );
  assert.deepEqual(reported.sort(), [
    'lost: Port 30001 is not allocated; repairing',
    'robbed: Port 30002 is not allocated; repairing',
  ]);
  const [event] = events.events;
  assert.deepEqual(
    [event?.object.reason, event?.object.type, event?.object.reportingComponent],
    ['PortNotAllocated', 'Warning', 'portallocator-repair-controller'],
  );
  const { ports } = await readAllocations(first.store);
  assert.deepEqual([...ports].sort(), [
    ['30001', 'default/lost'],
    ['30002', 'default/robbed'],
  ]);
  await assertExact(first.store);
});

test('a port outside the range is reported at every check, and counted', async () => {
  const events = '/api/v1/namespaces/default/events?fieldSelector=reason=PortOutOfRange';
  const counted = async (): Promise<readonly (number | undefined)[]> =>
    (await first.api.get<{ items: readonly Event[] }>(events)).items.map(({ count }) => count);
  const watch = await first.api.watch<Event>(`${events}&watch=true`);
  for (const round of [1, 2]) {
    await withAnother('31000-31010', () => watch.until((seen) => seen.length === 2 * round));
    assert.deepEqual(await counted(), [round, round]);
  }
  watch.close();
  await assertExact(first.store);
});

test('repairs do no harm while others write', async () => {
  let stopped = false;
  const write = async (writer: number): Promise<void> => {
    for (let round = 0; !stopped; round += 1) {
      const name = `w${writer}-${round % 3}`;
      const path = `${services}/${name}`;
      await first.api.send<Service>({ method: 'POST', path: services, body: body(name) });
      if (round % 3 > 0) await first.api.patch(path, { spec: { type: 'ClusterIP' } });
      await first.api.delete(path);
    }
  };
  const writers = Array.from({ length: 8 }, (_, writer) => write(writer));
  for (let start = 0; start < 10; start += 1) await withAnother('30000-30199', async () => {});
  stopped = true;
  await Promise.all(writers);
  await assertExact(first.store);
  const { ports } = await readAllocations(first.store);
  assert.deepEqual([...ports.values()].sort(), ['default/lost', 'default/robbed']);
});
