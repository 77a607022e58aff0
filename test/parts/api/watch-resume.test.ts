// A watch resumed from any version gives exactly what was missed. FAIRLEAD_SEED repeats a run.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ApiClient, ObjectList, WatchEvent } from '../harness/api-client.ts';
import { type ConfigMap, configMap } from '../harness/config-maps.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';
import { chooseSeed, createRandom, type Random } from '../harness/random.ts';
import {
  actualEvents,
  expectedEvents,
  type Interest,
  type Step,
  watchPath,
} from '../harness/watch-model.ts';

const timeout = 60_000;
const namespaces = ['resume-a', 'resume-b'] as const;
const colors = ['red', 'green'] as const;
const writes = 300;

let running: MemoryServer;
before(async () => {
  running = await startMemoryServer();
  for (const name of namespaces)
    await running.api.post('/api/v1/namespaces', { metadata: { name } });
});
after(() => running.stop());

/** Writes one after the other, so that each step's revision is known. */
async function writeSteps(random: Random, count: number, from: number): Promise<readonly Step[]> {
  const { api, store } = running;
  const live = new Map<string, ConfigMap>();
  const steps: Step[] = [];
  for (let round = 0; round < count; round++) {
    const namespace = random.pick(namespaces);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const name = `c-${from}-${random.below(6)}`;
    const target = `${path}/${name}`;
    const known = live.get(target);
    const data = { round: String(round) };
    const labels = { color: random.pick(colors) };
    let written: ConfigMap | undefined;
    if (known === undefined) written = await api.post(path, configMap(name, data, labels));
    else if (random.below(3) === 0) await api.delete(target);
    else written = await api.patch(target, { data, metadata: { labels } });
    const revision = await store.currentRevision();
    if (written === undefined) live.delete(target);
    else live.set(target, written);
    steps.push({ revision, before: known, after: written });
  }
  return steps;
}

function randomInterest(random: Random): Interest {
  return {
    ...(random.below(2) === 0 ? {} : { namespace: random.pick(namespaces) }),
    ...(random.below(2) === 0 ? {} : { color: random.pick(colors) }),
  };
}

async function assertResumes(
  steps: readonly Step[],
  revision: number,
  interest: Interest,
): Promise<void> {
  const wanted = expectedEvents(steps, revision, interest);
  const watch = await running.api.watch<ConfigMap>(watchPath(interest, revision));
  // What comes after the model's end is the next test's.
  await watch.until((events) => events.length >= wanted.length);
  assert.deepEqual(actualEvents(watch.events).slice(0, wanted.length), wanted);
  watch.close();
}

test('a watch from any version gives exactly what followed it', { timeout }, async (t) => {
  const seed = chooseSeed();
  t.diagnostic(`seed ${seed}`);
  const random = createRandom(seed);
  const start = await running.store.currentRevision();
  const steps = await writeSteps(random, writes, start);
  const end = await running.store.currentRevision();
  assert.equal(end, steps.at(-1)?.revision);
  for (let i = 0; i < 60; i++) {
    await assertResumes(steps, start + random.below(end - start + 1), randomInterest(random));
  }
  await assertResumes(steps, start, {});
  await assertResumes(steps, end, {});
});

test('after a restart a watch from any version gives the same', { timeout }, async (t) => {
  const seed = chooseSeed();
  t.diagnostic(`seed ${seed}`);
  const random = createRandom(seed);
  const start = await running.store.currentRevision();
  const steps = await writeSteps(random, writes, start);
  const end = await running.store.currentRevision();
  running.api.close();
  await running.server.stop();
  running = await startMemoryServer({ store: running.store });
  for (let i = 0; i < 30; i++) {
    await assertResumes(steps, start + random.below(end - start + 1), randomInterest(random));
  }
});

/** Reads so many events at a time, closes, and goes on from the last. */
async function readInPieces(
  api: ApiClient,
  {
    interest,
    start,
    isLast,
  }: { interest: Interest; start: string; isLast: (e: WatchEvent) => boolean },
  random: Random,
): Promise<readonly string[]> {
  const all: WatchEvent<ConfigMap>[] = [];
  let version = start;
  for (;;) {
    const watch = await api.watch<ConfigMap>(watchPath(interest, version));
    const wanted = 1 + random.below(20);
    await watch.until((events) => events.length >= wanted || events.some(isLast));
    const taken = [...watch.events];
    watch.close();
    all.push(...taken);
    if (taken.some(isLast)) return actualEvents(all);
    version = taken.at(-1)?.object.metadata.resourceVersion ?? version;
  }
}

test('watchers that come and go under load miss nothing and see nothing twice', {
  timeout,
}, async (t) => {
  const { api, store } = running;
  const seed = chooseSeed();
  t.diagnostic(`seed ${seed}`);
  const start = String(await store.currentRevision());
  const isLast = ({ object }: WatchEvent): boolean => object.metadata.name === 'the-last';
  const interest = { namespace: namespaces[0] };
  const readers = Array.from({ length: 8 }, (_, i) =>
    readInPieces(api, { interest, start, isLast }, createRandom(seed + i)),
  );
  const path = `/api/v1/namespaces/${namespaces[0]}/configmaps`;
  const writer = async (number: number): Promise<void> => {
    const random = createRandom(seed + 100 + number);
    for (let round = 0; round < 60; round++) {
      const name = `w-${number}-${random.below(4)}`;
      const data = { round: String(round) };
      const { status } = await api.send({ method: 'POST', path, body: configMap(name, data) });
      if (status !== 409) continue;
      if (random.below(2) === 0) await api.delete(`${path}/${name}`);
      else await api.patch(`${path}/${name}`, { data });
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, number) => writer(number)));
  await api.post(path, configMap('the-last'));
  const seen = await Promise.all(readers);
  const whole = await api.watch<ConfigMap>(watchPath(interest, start));
  await whole.until((events) => events.some(isLast));
  const wanted = actualEvents(whole.events);
  whole.close();
  assert.ok(wanted.length > 400, `${wanted.length} events`);
  for (const events of seen) assert.deepEqual(events, wanted);
  const { items } = await api.get<ObjectList<ConfigMap>>(path);
  assert.deepEqual(
    replayed(wanted),
    items.map(({ metadata }) => `${metadata.name}`).filter((name) => !name.startsWith('c-')),
  );
});

/** The names that are there when the events have happened. */
function replayed(events: readonly string[]): readonly string[] {
  const names = new Set<string>();
  for (const event of events) {
    const [type, key = ''] = event.split(' ');
    const name = key.split('/')[1] ?? '';
    if (type === 'DELETED') names.delete(name);
    else names.add(name);
  }
  return [...names].sort();
}
