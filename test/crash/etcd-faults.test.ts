// Three members of etcd and two API servers under load, each killed, frozen and cut off in turn: every acknowledged write is there,
// what clients saw can have happened one by one, no address or port is given twice, no watch misses or repeats a change.
// FAIRLEAD_FAULT_ROUNDS=20 for a night.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Endpoints } from '../../src/kinds/endpoints/types.ts';
import { openEtcdStore } from '../../src/storage/backends/etcd/store.ts';
import type { Store } from '../../src/storage/store.ts';
import { assertExact } from '../parts/allocation-checks.ts';
import type { ObjectList } from '../parts/api-client.ts';
import { chooseSeed, createRandom } from '../parts/random.ts';
import { findViolation } from '../parts/register-history.ts';
import { etcdMissing, type RunningEtcd, startEtcd } from '../parts/running-etcd.ts';
import {
  createAsker,
  createHistory,
  followChanges,
  type History,
  maps,
  services,
  useRegisters,
  useServices,
} from './etcd-fault-clients.ts';
import { type FaultServer, type FaultServers, startFaultServers } from './etcd-fault-servers.ts';

const skip = etcdMissing() ?? false;
const rounds = Number(process.env.FAIRLEAD_FAULT_ROUNDS ?? 1);
const keys = ['r-0', 'r-1', 'r-2', 'r-3', 'r-4'];
/** So many answers must come while something is broken, and after it was mended. */
const answersBetween = 50;

let etcd: RunningEtcd;
let servers: FaultServers;
before(async () => {
  if (skip !== false) return;
  etcd = await startEtcd(3);
  servers = await startFaultServers(2, etcd.urls);
});
after(async () => {
  if (skip !== false) return;
  await servers.remove();
  await etcd.stop();
});

type Fault = {
  readonly name: string;
  readonly strike: () => Promise<void> | void;
  readonly mend: () => Promise<void> | void;
};

/** Each alone: of three members one may be missing, of two servers one. */
function faults(): readonly Fault[] {
  const kills = [...etcd.members, ...servers.all].map(({ kill, start }, n) => ({
    name: `kill ${n}`,
    strike: kill,
    mend: start,
  }));
  const freezes = [...etcd.members.slice(0, 2), ...servers.all.slice(0, 1)].map(
    ({ freeze, thaw }, n) => ({ name: `freeze ${n}`, strike: freeze, mend: thaw }),
  );
  const cuts = servers.all.map(({ cutOff, joinAgain }, n) => ({
    name: `cut off ${n}`,
    strike: cutOff,
    mend: joinAgain,
  }));
  return [...kills, ...freezes, ...cuts];
}

test('nothing is lost, given twice or seen out of order', {
  skip,
  timeout: 600_000 + rounds * 300_000,
}, async (t) => {
  const seed = chooseSeed();
  t.diagnostic(`FAIRLEAD_SEED=${seed}`);
  const start = await createRegisters();
  const store = await openEtcdStore({ endpoints: etcd.urls, prefix: '/fairlead', now: Date.now });
  const history = createHistory();
  const end = new AbortController();
  let endAt = (_: string): void => {};
  const last = new Promise<string>((resolve) => {
    endAt = resolve;
  });
  const watching = servers.all.map((_, n) =>
    followChanges([...servers.all.slice(n), ...servers.all.slice(0, n)], start, last),
  );
  const load = startLoad(history, seed, end.signal);
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, strike, mend } of faults()) {
      await history.grows(answersBetween);
      t.diagnostic(`${name} after ${history.acknowledged()} answers`);
      await strike();
      await history.grows(answersBetween);
      await mend();
    }
  }
  await history.grows(answersBetween);
  end.abort();
  const made = await load;
  await checkHistory(history);
  endAt(await touchLast());
  await checkWatches(store, Number(start), await Promise.all(watching.map(linesOf)));
  await checkServices(made);
  await assertExact(store);
  await store.close();
});

test('the kubernetes Service drops a server that was killed', {
  skip,
  timeout: 120_000,
}, async () => {
  const [one, two] = servers.all as readonly [FaultServer, FaultServer];
  const api = await one.connect();
  const path =
    '/api/v1/namespaces/default/endpoints?watch=true&fieldSelector=metadata.name%3Dkubernetes';
  const watch = await api.watch<Endpoints>(path);
  const leadsTo = (address: string): boolean =>
    JSON.stringify(watch.events.at(-1)?.object.subsets ?? []).includes(`"${address}"`);
  await watch.until(() => leadsTo(one.advertised) && leadsTo(two.advertised));
  await two.kill();
  await watch.until(() => leadsTo(one.advertised) && !leadsTo(two.advertised));
  await two.start();
  await watch.until(() => leadsTo(two.advertised));
  await two.end();
  await watch.until(() => !leadsTo(two.advertised));
  api.close();
});

/** The version from which on everything is followed. */
async function createRegisters(): Promise<string> {
  const api = await servers.all[0]?.connect();
  assert.ok(api);
  for (const name of keys) await api.post(maps, { metadata: { name }, data: { value: '' } });
  const { metadata } = await api.get<ObjectList>(maps);
  api.close();
  return metadata.resourceVersion;
}

type Made = Awaited<ReturnType<typeof useServices>>;

async function startLoad(
  history: History,
  seed: number,
  end: AbortSignal,
): Promise<readonly Made[]> {
  const clients = ['a', 'b', 'c', 'd'].map(async (name, n) => {
    const askers = servers.all.map(createAsker);
    const random = createRandom(seed + n).below;
    await useRegisters({ name, askers, keys, history, random }, end);
    for (const { close } of askers) close();
  });
  const makers = ['s', 't'].map(async (name, n) => {
    const askers = servers.all.map(createAsker);
    const made = await useServices(name, askers, {
      random: createRandom(seed + 100 + n).below,
      end,
    });
    for (const { close } of askers) close();
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
async function touchLast(): Promise<string> {
  const api = await servers.all[0]?.connect();
  const { metadata } = await (api?.patch(`${maps}/r-0`, { data: { value: 'last' } }) ??
    Promise.reject(new Error('no server')));
  api?.close();
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

async function checkServices(made: readonly Made[]): Promise<void> {
  const api = await servers.all[1]?.connect();
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
