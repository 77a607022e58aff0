// Load on several servers while something breaks and is mended, again and again; then everything that must hold is checked.
import assert from 'node:assert/strict';
import { openEtcdStore } from '../../src/storage/backends/etcd/store.ts';
import type { Store } from '../../src/storage/store.ts';
import { assertExact } from '../parts/harness/allocation-checks.ts';
import type { ObjectList } from '../parts/harness/api-client.ts';
import { createRandom } from '../parts/harness/random.ts';
import { findViolation } from '../parts/harness/register-history.ts';
import {
  createHistory,
  createRequester,
  followChanges,
  type History,
  maps,
  type Reachable,
  services,
  useRegisters,
  useServices,
} from './etcd-fault-clients.ts';
import { createTally, type Tally } from './etcd-fault-tally.ts';

export type Fault = {
  readonly name: string;
  readonly strike: () => Promise<void> | void;
  readonly mend: () => Promise<void> | void;
  /** The servers that must go on answering while it stands, by number. */
  readonly answering: readonly number[];
  /** It stands so long at least, for others to notice; absent: they notice at once. */
  readonly holdMs?: number;
};

export type FaultScene = {
  readonly servers: readonly Reachable[];
  readonly etcdUrls: readonly string[];
  /** One after the other. */
  readonly faults: readonly Fault[];
  readonly seed: number;
  readonly say: (text: string) => void;
};

const keys = ['r-0', 'r-1', 'r-2', 'r-3', 'r-4'];
/** So many answers of each server that can give any must come while something is broken, and of all after it was mended. */
const answersBetween = 30;

export async function runFaults(scene: FaultScene): Promise<void> {
  const { servers, etcdUrls, seed, say } = scene;
  const start = await createRegisters(servers);
  const store = await openEtcdStore({ endpoints: etcdUrls, prefix: '/fairlead', now: Date.now });
  const history = createHistory();
  const tally = createTally();
  const end = new AbortController();
  let endAt = (_: string): void => {};
  const until = new Promise<string>((resolve) => {
    endAt = resolve;
  });
  const watching = servers.map((_, n) => {
    const rotated = [...servers.slice(n), ...servers.slice(0, n)];
    return followChanges({ servers: rotated, from: start, until, isPatient: n > 0 });
  });
  const load = startLoad({ servers, tally, history, seed, end: end.signal });
  await Promise.race([breakAndMend(scene, tally), load]);
  end.abort();
  const made = await load;
  checkHistory(history);
  endAt(await touchLast(servers));
  const watched = await Promise.all(watching.map(linesOf));
  await checkWatches(store, Number(start), watched);
  await checkServices(servers, made);
  await assertExact(store);
  await store.close();
  const operations = [...history.operations.values()].reduce((sum, { length }) => sum + length, 0);
  say(
    `${tally.total()} answers, ${operations} operations on registers, ${watched[0]?.length} changes watched by each`,
  );
}

async function breakAndMend({ servers, faults, say }: FaultScene, tally: Tally): Promise<void> {
  const all = servers.map(({ number }) => number);
  for (const { name, strike, mend, answering, holdMs = 0 } of faults) {
    await tally.more(all, answersBetween);
    const startedAt = performance.now();
    const before = tally.total();
    await strike();
    const noticed = new Promise((resolve) => setTimeout(resolve, holdMs));
    await Promise.all([tally.more(answering, answersBetween), noticed]);
    await mend();
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    say(`${name}: ${tally.total() - before} answers in ${seconds} s`);
  }
  await tally.more(all, answersBetween);
}

/** The version from which on everything is followed. */
async function createRegisters([first]: readonly Reachable[]): Promise<string> {
  assert.ok(first);
  const api = await first.connect();
  for (const name of keys) await api.post(maps, { metadata: { name }, data: { value: '' } });
  const { metadata } = await api.get<ObjectList>(maps);
  api.close();
  return metadata.resourceVersion;
}

type Made = Awaited<ReturnType<typeof useServices>>;

type Load = {
  readonly servers: readonly Reachable[];
  readonly tally: Tally;
  readonly history: History;
  readonly seed: number;
  readonly end: AbortSignal;
};

async function startLoad({ servers, tally, history, seed, end }: Load): Promise<readonly Made[]> {
  const clients = ['a', 'b', 'c', 'd'].map(async (name, n) => {
    const requesters = servers.map((server) => createRequester(server, tally));
    const random = createRandom(seed + n).below;
    await useRegisters({ name, requesters, keys, history, random }, end);
    for (const { close } of requesters) close();
  });
  const makers = ['s', 't'].map(async (name, n) => {
    const requesters = servers.map((server) => createRequester(server, tally));
    const random = createRandom(seed + 100 + n).below;
    const made = await useServices(name, requesters, { random, end });
    for (const { close } of requesters) close();
    return made;
  });
  await Promise.all(clients);
  return Promise.all(makers);
}

function checkHistory({ operations }: History): void {
  for (const [key, ofKey] of operations) {
    assert.equal(findViolation(ofKey, ''), undefined, `register ${key}`);
  }
}

/** One more change, so that watchers know where the end is. */
async function touchLast([first]: readonly Reachable[]): Promise<string> {
  assert.ok(first);
  const api = await first.connect();
  const { metadata } = await api.patch(`${maps}/r-0`, { data: { value: 'last' } });
  api.close();
  return metadata.resourceVersion ?? '';
}

async function linesOf(watched: ReturnType<typeof followChanges>): Promise<readonly string[]> {
  return (await watched).map(
    ({ object: { metadata, data } }) =>
      `${metadata.resourceVersion} ${metadata.name} ${data?.value}`,
  );
}

/** What watchers of the servers saw is exactly what etcd says has happened. */
async function checkWatches(
  store: Store,
  start: number,
  watched: readonly (readonly string[])[],
): Promise<void> {
  const end = Number(watched[0]?.at(-1)?.split(' ')[0]);
  const happened: string[] = [];
  const prefix = '/registry/configmaps/default/';
  for await (const events of store.watch(prefix, start, AbortSignal.timeout(30_000))) {
    for (const { key, revision, value } of events) {
      const { data } = JSON.parse(Buffer.from(value ?? []).toString()) as {
        readonly data?: { readonly value?: string };
      };
      happened.push(`${revision} ${key.slice(prefix.length)} ${data?.value}`);
    }
    if ((events.at(-1)?.revision ?? 0) >= end) break;
  }
  for (const lines of watched) assert.deepEqual(lines, happened);
}

async function checkServices(servers: readonly Reachable[], made: readonly Made[]): Promise<void> {
  const api = await servers.at(-1)?.connect();
  assert.ok(api);
  const { items } = await api.get<ObjectList>(services);
  const names = new Set(items.map(({ metadata }) => metadata.name));
  for (const { there, gone } of made) {
    assert.deepEqual(
      there.filter((name) => !names.has(name)),
      [],
    );
    assert.deepEqual(
      gone.filter((name) => names.has(name)),
      [],
    );
  }
  api.close();
}
