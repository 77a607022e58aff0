// Kills the API server at random moments under full load and looks at what it left: every acknowledged write, no
// address or port twice or lost, and watches that go on without a gap. FAIRLEAD_CRASH_ROUNDS sets the number of
// kills, FAIRLEAD_SEED repeats a run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../../src/kinds/service/types.ts';
import type { ApiClient, ObjectList } from '../parts/harness/api-client.ts';
import { chooseSeed, createRandom, type Random } from '../parts/harness/random.ts';
import { type CrashServer, makeCrashServer } from './api-crash-server.ts';
import { assertWhole, createWatcher, line, type Watcher } from './api-crash-watcher.ts';
import { collection, type Records, verify, write } from './api-crash-writers.ts';

const rounds = Number(process.env.FAIRLEAD_CRASH_ROUNDS ?? 5);
const writers = 16;
/** Some kills come at once, some after many writes. */
const maxWrites = 1_500;
/** Fewer events than a server keeps for watches that resume. */
const remembered = 5_000;
/** Some kills come while the server starts. */
const maxStartMs = 400;

test(`an API server outlives ${rounds} kills under load`, {
  timeout: 30_000 + rounds * 20_000,
}, async (t) => {
  const seed = chooseSeed();
  t.diagnostic(`seed ${seed}`);
  const random = createRandom(seed);
  const server = await makeCrashServer();
  try {
    const records: Records = new Map();
    let api = await server.start();
    const { metadata } = await list(api);
    const watcher = createWatcher(metadata.resourceVersion);
    for (let round = 0; round < rounds; round++) {
      const acknowledged = await writeUntilKilled(api, { server, watcher, records, random, round });
      t.diagnostic(`round ${round}: killed after ${acknowledged} acknowledged writes`);
      await server.inspect();
      if (random.below(2) === 0) await server.startAndKill(random.below(maxStartMs));
      api = await server.start();
      verify(records, (await list(api)).items);
    }
    await assertWatched(api, watcher, metadata.resourceVersion);
    api.close();
  } finally {
    await server.remove();
  }
});

const list = (api: ApiClient): Promise<ObjectList<Service>> => api.get(collection);

type Round = {
  readonly server: CrashServer;
  readonly watcher: Watcher;
  readonly records: Records;
  readonly random: Random;
  readonly round: number;
};

/** All writers at full speed; returns how many writes were acknowledged. */
async function writeUntilKilled(
  api: ApiClient,
  { server, watcher, records, random, round }: Round,
): Promise<number> {
  const limit = Math.floor((random.below(1_000) / 1_000) ** 2 * maxWrites);
  let count = 0;
  let killed: Promise<void> | undefined;
  const answered = (): void => {
    count += 1;
    if (count >= limit) killed ??= server.kill();
  };
  await watcher.follow(api);
  await Promise.all(
    Array.from({ length: writers }, (_, writer) => {
      const own = createRandom(random.below(2 ** 31));
      return write(api, { records, round, writer, random: own, answered });
    }),
  );
  await killed;
  await watcher.pause();
  api.close();
  return count;
}

async function assertWatched(api: ApiClient, watcher: Watcher, start: string): Promise<void> {
  await watcher.follow(api);
  const marker = await api.post<Service>(collection, {
    metadata: { name: 'the-last' },
    spec: { ports: [{ port: 80 }] },
  });
  const version = marker.metadata.resourceVersion ?? '';
  await watcher.reach(version);
  const events = watcher.events();
  assertWhole(events, (await list(api)).items);
  // One watch over what is still remembered, across the restarts, has seen the same.
  const known = events.slice(-remembered);
  const from = events.at(-known.length - 1)?.object.metadata.resourceVersion ?? start;
  const whole = await api.watch<Service>(`${collection}?watch=1&resourceVersion=${from}`);
  await whole.until((all) => all.some(({ object }) => object.metadata.resourceVersion === version));
  assert.deepEqual(known.map(line), whole.events.map(line));
  whole.close();
}
