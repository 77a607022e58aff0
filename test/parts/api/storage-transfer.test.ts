// A server's data as a file, from the embedded engine to etcd and back, with the commands that people use.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Service } from '../../../src/kinds/service/types.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { openEmbeddedStore } from '../../../src/storage/backends/embedded/store.ts';
import { openEtcdStore } from '../../../src/storage/backends/etcd/store.ts';
import type { Store } from '../../../src/storage/store.ts';
import type { ObjectList } from '../harness/api-client.ts';
import { startMemoryServer } from '../harness/memory-server.ts';
import { type Ran, runCommand } from '../harness/run-command.ts';
import { etcdMissing, type RunningEtcd, startEtcd } from '../harness/running-etcd.ts';

const timeout = 120_000;
const missing = etcdMissing();
const clock = { now: () => Date.now() };
let directory: string;
let etcd: RunningEtcd | undefined;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'fairlead-transfer-'));
  if (missing === undefined) etcd = await startEtcd();
});
after(async () => {
  await etcd?.stop();
  await rm(directory, { recursive: true });
});

const fairlead = (line: string): Promise<Ran> => runCommand(line, directory);

const services = '/api/v1/namespaces/default/services';

/** What must survive: everything but the versions. */
const comparable = ({ metadata, ...rest }: KubeObject) => ({
  ...rest,
  metadata: { ...metadata, resourceVersion: '' },
});

/** A directory, or a prefix in etcd. */
type Location = { readonly directory: string } | { readonly prefix: string };

const openStore = (location: Location): Promise<Store> =>
  'prefix' in location
    ? openEtcdStore({ endpoints: [etcd?.url ?? ''], ...location, ...clock })
    : openEmbeddedStore({ ...location, ...clock });

async function fill(location: Location): Promise<readonly KubeObject[]> {
  const server = await startMemoryServer({ store: await openStore(location) });
  for (let n = 0; n < 3; n += 1) {
    await server.api.post(services, {
      metadata: { name: `s${n}` },
      spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30_100 + n }] },
    });
  }
  await server.api.post('/api/v1/namespaces/default/events', {
    metadata: { name: 'e' },
    involvedObject: { namespace: 'default' },
  });
  const { items } = await server.api.get<ObjectList<Service>>(services);
  await server.stop();
  return items;
}

/** The same objects under newer versions, their ports still taken, and old versions too old. */
async function check(location: Location, wanted: readonly KubeObject[]): Promise<void> {
  const store = await openStore(location);
  const ends = (await store.expiring()).filter(({ key }) => key.includes('/events/'));
  assert.equal(ends.length, 1);
  const leftMs = (ends[0]?.expiresAt ?? 0) - Date.now();
  assert.ok(leftMs > 0 && leftMs <= 3_700_000, `an hour of life at most: ${leftMs}`);
  const server = await startMemoryServer({ store });
  const { items } = await server.api.get<ObjectList<Service>>(services);
  assert.deepEqual(items.map(comparable), wanted.map(comparable));
  const version = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion);
  const newest = Math.max(...wanted.map(version));
  assert.ok(items.every((one) => version(one) > newest));
  const taken = await server.api.send({
    method: 'POST',
    path: services,
    body: {
      metadata: { name: 'late' },
      spec: { type: 'NodePort', ports: [{ port: 1, nodePort: 30_101 }] },
    },
  });
  assert.equal(taken.status, 422);
  for (const old of [...wanted.map(version), newest]) {
    const watch = await server.api.watch(`${services}?watch=true&resourceVersion=${old}`);
    await watch.until((events) => events.length > 0);
    const [first] = watch.events;
    assert.equal(first?.type, 'ERROR');
    assert.equal((first?.object as { readonly code?: number } | undefined)?.code, 410);
    watch.close();
  }
  if ('directory' in location) await locked(dirname(location.directory));
  await server.stop();
}

/** While a server has it. */
async function locked(data: string): Promise<void> {
  const refused = await fairlead(`storage export --data-dir ${data}`);
  assert.equal(refused.code, 1);
  assert.equal(refused.out, '');
  assert.match(refused.err, /^error: Cannot open .*process/);
  const again = await fairlead(`storage import first.export --data-dir ${data}`);
  assert.equal(again.code, 2);
  assert.match(again.err, /there is a store already/);
}

test('from one directory to another', { timeout }, async () => {
  const location = (name: string): Location => ({ directory: join(directory, name, 'store') });
  const wanted = await fill(location('one'));
  const exported = await fairlead('storage export --data-dir one -o first.export');
  assert.deepEqual([exported.code, exported.out, exported.err], [0, '', '']);
  assert.equal((await stat(join(directory, 'first.export'))).mode & 0o777, 0o600);
  const toOutput = await fairlead('storage export --data-dir one');
  const text = await readFile(join(directory, 'first.export'), 'utf8');
  const body = (all: string): readonly string[] => all.split('\n').slice(1, -2);
  assert.deepEqual(body(toOutput.out), body(text));
  const imported = await fairlead('storage import first.export --data-dir two');
  assert.equal(imported.code, 0, imported.err);
  assert.match(
    imported.out,
    /^Imported \d+ keys of revision \d+; the store is at revision 10\d{5}\.\n$/,
  );
  await check(location('two'), wanted);

  // A file that is not whole changes nothing.
  await writeFile(join(directory, 'cut.export'), text.slice(0, -10));
  const cut = await fairlead('storage import cut.export --data-dir three');
  assert.equal(cut.code, 1);
  assert.match(cut.err, /Nothing was changed/);
  await writeFile(join(directory, 'strange'), 'something\n');
  assert.match((await fairlead('storage import strange --data-dir three')).err, /no export/);
  assert.match((await fairlead('storage import nowhere --data-dir three')).err, /no such file/);
  assert.match((await fairlead('storage export --data-dir three')).err, /Cannot find a store/);
  assert.equal(existsSync(join(directory, 'three')), false);
});

test('from a directory to etcd and back', { timeout, skip: missing }, async () => {
  await mkdir(join(directory, 'four'), { recursive: true });
  const wanted = await fill({ directory: join(directory, 'four', 'store') });
  await fairlead('storage export --data-dir four -o four.export');
  const at = `--etcd-servers ${etcd?.url} --etcd-prefix /moved`;
  const there = await fairlead(`storage import four.export ${at} --bump-revision 300`);
  assert.equal(there.code, 0, there.err);
  const twice = await fairlead(`storage import four.export ${at}`);
  assert.equal(twice.code, 1);
  assert.match(twice.err, /it is not empty/);
  await check({ prefix: '/moved' }, wanted);

  assert.equal((await fairlead(`storage export ${at} -o back.export`)).code, 0);
  const back = await fairlead('storage import back.export --data-dir five');
  assert.equal(back.code, 0, back.err);
  await check({ directory: join(directory, 'five', 'store') }, wanted);
});
