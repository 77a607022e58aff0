// The informer and the watch of @kubernetes/client-node against the whole server, restarts included: the copy is
// exact, and a watch goes on where it left off.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  CoreV1Api,
  type Informer,
  type KubernetesObject,
  makeInformer,
  type ObjectCache,
  Watch,
} from '@kubernetes/client-node';
import type { ObjectList } from '../harness/api-client.ts';
import { type LastingServer, startLastingServer } from '../harness/client-node-server.ts';
import { chooseSeed, createRandom, type Random } from '../harness/random.ts';

const changes = Number(process.env.FAIRLEAD_INFORMER_CHANGES ?? 10_000);
/** Servers one after the other; the informers live through all of them. */
const servers = 5;
const timeout = 600_000;
/** Names that are changed; few enough that most changes meet an object. */
const namesPerKind = 40;
/** What the documentation of the client does after an error, only sooner. */
const restartAfterMs = 50;

let lasting: LastingServer;
before(async () => {
  lasting = await startLastingServer();
});
after(() => lasting.stop());

type Kind = { readonly path: string; readonly body: (name: string, n: number) => object };

const configMaps: Kind = {
  path: '/api/v1/namespaces/default/configmaps',
  body: (name, n) => ({ metadata: { name }, data: { n: String(n) } }),
};
const services: Kind = {
  path: '/api/v1/namespaces/default/services',
  body: (name, n) => ({
    metadata: { name, annotations: { n: String(n) } },
    spec: { ports: [{ port: 80 }] },
  }),
};

type Cache = Informer<KubernetesObject> & ObjectCache<KubernetesObject>;
type Follower = {
  readonly informer: Cache;
  /** Resolves once the copy is what is expected. */
  readonly becomes: (expected: ReadonlyMap<string, string>) => Promise<void>;
};

function follow({ path }: Kind): Follower {
  const api = lasting.config.makeApiClient(CoreV1Api);
  const list =
    path === configMaps.path
      ? () => api.listNamespacedConfigMap({ namespace: 'default' })
      : () => api.listNamespacedService({ namespace: 'default' });
  const informer = makeInformer<KubernetesObject>(lasting.config, path, list);
  let check = (): void => {};
  for (const verb of ['add', 'update', 'delete'] as const) informer.on(verb, () => check());
  informer.on('error', () => setTimeout(() => void informer.start(), restartAfterMs));
  const becomes = (expected: ReadonlyMap<string, string>): Promise<void> =>
    new Promise((resolve) => {
      check = () => {
        if (isSame(versionsOf(informer.list()), expected)) resolve();
      };
      check();
    });
  return { informer, becomes };
}

const versionsOf = (objects: readonly KubernetesObject[]): ReadonlyMap<string, string> =>
  new Map(objects.map(({ metadata }) => [metadata?.name ?? '', metadata?.resourceVersion ?? '']));

const isSame = (a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean =>
  a.size === b.size && [...a].every(([name, version]) => b.get(name) === version);

async function changeSomething(random: Random, { path, body }: Kind, n: number): Promise<void> {
  const api = lasting.api();
  const name = `x${random.below(namesPerKind)}`;
  const made = await api.send({ method: 'POST', path, body: body(name, n) });
  if (made.status === 201) return;
  assert.equal(made.status, 409);
  if (random.below(4) === 0) await api.delete(`${path}/${name}`);
  else await api.patch(`${path}/${name}`, body(name, n));
}

const stateOf = async ({ path }: Kind): Promise<ReadonlyMap<string, string>> =>
  versionsOf((await lasting.api().get<ObjectList<KubernetesObject>>(path)).items);

test(`informers keep an exact copy through ${changes} changes and restarts`, {
  timeout,
}, async (t) => {
  const seed = chooseSeed();
  t.diagnostic(`FAIRLEAD_SEED=${seed}`);
  const random = createRandom(seed);
  const kinds = [configMaps, services] as const;
  const followers = kinds.map(follow);
  for (const { informer } of followers) await informer.start();
  for (let server = 0; server < servers; server++) {
    if (server > 0) await lasting.restart();
    const perServer = Math.ceil(changes / servers);
    for (let n = 0; n < perServer; n++) {
      await changeSomething(random, random.pick(kinds), server * perServer + n);
    }
    // Every other time the server goes while the informers are still behind.
    if (server % 2 === 1) continue;
    for (const [i, kind] of kinds.entries()) await followers[i]?.becomes(await stateOf(kind));
  }
  for (const { informer } of followers) await informer.stop();
});

type Seen = { readonly type: string; readonly name: string; readonly version: string };

/** Watches from a version until so many events came. */
async function watchFrom(version: string, count: number): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  const { promise, resolve, reject } = pending();
  const { abort } = bound(
    await new Watch(lasting.config).watch(
      configMaps.path,
      { resourceVersion: version },
      (type, { metadata, code }: { metadata: Record<string, string>; code?: number }) => {
        seen.push({
          type,
          name: metadata.name ?? String(code),
          version: metadata.resourceVersion ?? '',
        });
        if (seen.length === count) resolve();
      },
      (error: unknown) => reject(error ?? new Error(`ended after ${seen.length} events`)),
    ),
  );
  await promise;
  abort();
  return seen.slice(0, count);
}

const bound = (controller: AbortController) => ({ abort: () => controller.abort() });

function pending() {
  let resolve = (): void => {};
  let reject = (_why: unknown): void => {};
  const promise = new Promise<void>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  return { promise, resolve, reject };
}

test('a watch resumes where it ended, on the next server too', { timeout }, async () => {
  const { path } = configMaps;
  const start = (await lasting.api().get<ObjectList>(path)).metadata.resourceVersion;
  for (const name of ['r1', 'r2', 'r3']) await lasting.api().post(path, { metadata: { name } });
  const first = await watchFrom(start, 2);
  assert.deepEqual(
    first.map(({ type, name }) => `${type} ${name}`),
    ['ADDED r1', 'ADDED r2'],
  );
  await lasting.api().delete(`${path}/r1`);
  await lasting.restart();
  await lasting.api().patch(`${path}/r2`, { data: { a: 'b' } });
  const rest = await watchFrom(first.at(-1)?.version ?? '', 3);
  assert.deepEqual(
    rest.map(({ type, name }) => `${type} ${name}`),
    ['ADDED r3', 'DELETED r1', 'MODIFIED r2'],
  );
});

test('a watch from a compacted version gets 410', { timeout }, async () => {
  const old = (await lasting.api().get<ObjectList>(configMaps.path)).metadata.resourceVersion;
  for (const name of ['o1', 'o2'])
    await lasting.api().post(configMaps.path, { metadata: { name } });
  await lasting.store().compact(await lasting.store().currentRevision());
  await lasting.restart();
  const [notified] = await watchFrom(old, 1);
  assert.deepEqual([notified?.type, notified?.name], ['ERROR', '410']);
});
