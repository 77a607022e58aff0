// Events go by themselves after an hour, on a clock that the test moves.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createFakeClock } from '../../../src/host/fake-clock.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { brief } from '../harness/config-maps.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const timeout = 30_000;
const minuteMs = 60_000;
const path = '/api/v1/namespaces/default/events';

const clock = createFakeClock(Date.now());
let running: MemoryServer;
before(async () => {
  const setTimer = (callback: () => void, delayMs: number) => clock.after(delayMs, callback);
  running = await startMemoryServer({ clock: { now: clock.now, setTimer } });
});
after(() => running.stop());

const event = (name: string) => ({
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
  reason: 'Tested',
});

const names = async (): Promise<readonly (string | undefined)[]> =>
  (await running.api.get<{ items: readonly KubeObject[] }>(path)).items.map(
    ({ metadata }) => metadata.name,
  );

test('an event expires an hour after its last write, and watches get its delete (KCT-16)', {
  timeout,
}, async () => {
  const { api } = running;
  await api.post(path, event('first'));
  const watch = await api.watch(`${path}?watch=1`);
  await clock.advance(30 * minuteMs);
  await api.post(path, event('second'));
  await clock.advance(29 * minuteMs);
  assert.deepEqual(await names(), ['first', 'second']);
  await api.patch(`${path}/second`, { message: 'written again' });
  await clock.advance(2 * minuteMs);
  await watch.until((events) => events.length >= 4);
  assert.deepEqual(brief(watch.events), [
    'ADDED first',
    'ADDED second',
    'MODIFIED second',
    'DELETED first',
  ]);
  assert.deepEqual(await names(), ['second']);
  await clock.advance(40 * minuteMs);
  assert.deepEqual(await names(), ['second'], 'its time began anew');
  await clock.advance(30 * minuteMs);
  await watch.until((events) => events.length >= 5);
  assert.deepEqual(await names(), []);
  watch.close();
});

test('an event that was deleted and created again has an hour of its own', {
  timeout,
}, async () => {
  const { api } = running;
  await api.post(path, event('again'));
  await clock.advance(40 * minuteMs);
  await api.delete(`${path}/again`);
  await api.post(path, event('again'));
  await clock.advance(40 * minuteMs);
  assert.deepEqual(await names(), ['again']);
  await clock.advance(21 * minuteMs);
  assert.deepEqual(await names(), []);
});

test('nothing else expires', { timeout }, async () => {
  const { api } = running;
  const configMaps = '/api/v1/namespaces/default/configmaps';
  await api.post(configMaps, { metadata: { name: 'stays' } });
  await clock.advance(3 * 60 * minuteMs);
  assert.equal((await api.get(`${configMaps}/stays`)).metadata.name, 'stays');
});
