// Encryption at rest against the real server: what stands in the store, keys that change, keys that are missing.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseEncryptionConfig } from '../../../src/apiserver/encryption/config.ts';
import { encryptStore } from '../../../src/apiserver/encryption/encrypt-store.ts';
import { createTransformers } from '../../../src/apiserver/encryption/transformer.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { openEmbeddedStore } from '../../../src/storage/backends/embedded/store.ts';
import { openEtcdStore } from '../../../src/storage/backends/etcd/store.ts';
import { openMemoryStore } from '../../../src/storage/backends/memory/store.ts';
import type { Store } from '../../../src/storage/store.ts';
import type { ApiClient, ObjectList } from '../harness/api-client.ts';
import { startMemoryServer } from '../harness/memory-server.ts';
import { runCommand } from '../harness/run-command.ts';
import { etcdMissing, type RunningEtcd, startEtcd } from '../harness/running-etcd.ts';

const timeout = 120_000;
const missing = etcdMissing();
const clock = { now: () => Date.now() };
const secrets = '/api/v1/namespaces/default/secrets';
const maps = '/api/v1/namespaces/default/configmaps';
let directory: string;
let etcd: RunningEtcd | undefined;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'fairlead-encryption-'));
  if (missing === undefined) etcd = await startEtcd();
});
after(async () => {
  await etcd?.stop();
  await rm(directory, { recursive: true });
});

/** A provider with keys by these names; `identity` alone. */
type Providers = readonly string[];

function configText(providers: Providers, resources: readonly string[] = ['secrets']): string {
  const provider = (text: string): object => {
    const [type = '', names = ''] = text.split(' ');
    if (type === 'identity') return { identity: {} };
    const keys = names.split(',').map((name) => ({
      name,
      secret: Buffer.alloc(32, name).toString('base64'),
    }));
    return { [type]: { keys } };
  };
  return JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources, providers: providers.map(provider) }],
  });
}

type Encrypted = { readonly store: Store; readonly use: (providers: Providers) => void };

function encrypted(raw: Store, providers: Providers, pathPrefix = ''): Encrypted {
  const read = (listed: Providers) =>
    createTransformers(parseEncryptionConfig(configText(listed), 'f'));
  let transformers = read(providers);
  return {
    store: encryptStore(raw, { transformers: () => transformers, pathPrefix }),
    use(listed) {
      transformers = read(listed);
    },
  };
}

const rawText = async (raw: Store, key: string): Promise<string> =>
  Buffer.from((await raw.get(key))?.value ?? []).toString('latin1');

const keyOf = (name: string): string => `/registry/secrets/default/${name}`;
const secret = (name: string, text: string) => ({
  metadata: { name },
  stringData: { password: text },
});
const decoded = (object: KubeObject): string =>
  Buffer.from(
    (object as { data?: { password?: string } }).data?.password ?? '',
    'base64',
  ).toString();

async function passwords(api: ApiClient): Promise<readonly string[]> {
  return (await api.get<ObjectList>(secrets)).items.map(decoded);
}

type Backend = {
  readonly name: string;
  readonly open: () => Promise<Store>;
  readonly prefix: string;
};

const backends: readonly Backend[] = [
  {
    name: 'a directory',
    prefix: '',
    open: () => openEmbeddedStore({ directory: join(directory, 'rotation'), ...clock }),
  },
  {
    name: 'etcd',
    prefix: '/rotation',
    open: () => openEtcdStore({ endpoints: [etcd?.url ?? ''], prefix: '/rotation', ...clock }),
  },
];

type Case = (backend: Backend) => Promise<void>;

/** In order, on one store. */
const cases: Readonly<Record<string, Case>> = {
  async 'only what is configured is encrypted, and clients see nothing of it'({ open, prefix }) {
    const raw = await open();
    const { store } = encrypted(raw, ['aescbc one', 'identity'], prefix);
    const { api, stop } = await startMemoryServer({ store });
    const watch = await api.watch(`${secrets}?watch=1`);
    await api.post(secrets, secret('a', 'hunter2'));
    await api.post(maps, { metadata: { name: 'm' }, data: { k: 'hunter2' } });
    await api.patch(`${secrets}/a`, { metadata: { labels: { l: 'v' } } });
    await watch.until((events) => events.length === 2);
    assert.deepEqual(
      watch.events.map(({ type, object }) => [type, decoded(object)]),
      [
        ['ADDED', 'hunter2'],
        ['MODIFIED', 'hunter2'],
      ],
    );
    const stored = await rawText(raw, keyOf('a'));
    assert.ok(stored.startsWith('k8s:enc:aescbc:v1:one:'), stored.slice(0, 30));
    assert.ok(!stored.includes('aHVudGVyMg'));
    assert.ok((await rawText(raw, '/registry/configmaps/default/m')).includes('hunter2'));
    watch.close();
    await stop();
  },
  async 'another key first: old values are read, and an update without a change writes them anew'({
    open,
    prefix,
  }) {
    const raw = await open();
    const { store } = encrypted(raw, ['secretbox two', 'aescbc one', 'identity'], prefix);
    const { api, stop } = await startMemoryServer({ store });
    assert.deepEqual(await passwords(api), ['hunter2']);
    const before = await api.get(`${secrets}/a`);
    const dry = await api.put(`${secrets}/a?dryRun=All`, before);
    assert.equal(dry.metadata.resourceVersion, before.metadata.resourceVersion);
    const rewritten = await api.put(`${secrets}/a`, before);
    assert.notEqual(rewritten.metadata.resourceVersion, before.metadata.resourceVersion);
    assert.ok((await rawText(raw, keyOf('a'))).startsWith('k8s:enc:secretbox:v1:two:'));
    const again = await api.put(`${secrets}/a`, rewritten);
    assert.equal(again.metadata.resourceVersion, rewritten.metadata.resourceVersion);
    await stop();
  },
  async 'the old key is gone: what was written anew is read, also after a start that replays the past'({
    open,
    prefix,
  }) {
    const raw = await open();
    const { store } = encrypted(raw, ['secretbox two'], prefix);
    const { api, stop } = await startMemoryServer({ store });
    assert.deepEqual(await passwords(api), ['hunter2']);
    assert.equal((await api.send({ method: 'GET', path: '/readyz' })).status, 200);
    await stop();
  },
  async 'a missing key: the server starts, says so, drops nothing, and reads it when the key is there'({
    open,
    prefix,
  }) {
    const raw = await open();
    const { store, use } = encrypted(raw, ['secretbox three'], prefix);
    const { api, server, stop } = await startMemoryServer({ store });
    const reason = 'no matching key was found for the provided Secretbox transformer';
    const single = `Internal error occurred: ${reason}`;
    const listed = `Internal error occurred: unable to transform key "${keyOf('a')}": ${reason}`;
    const refused: readonly [string, string, string][] = [
      ['GET', `${secrets}/a`, single],
      ['GET', secrets, listed],
      ['GET', '/api/v1/secrets', listed],
      ['GET', `${secrets}?watch=1`, listed],
      ['DELETE', `${secrets}/a`, single],
      ['DELETE', secrets, listed],
      ['PUT', `${secrets}/a`, single],
    ];
    for (const [method, path, message] of refused) {
      const body = method === 'PUT' ? { body: secret('a', 'x') } : {};
      const answer = await api.send({ method, path, ...body });
      assert.deepEqual([answer.status, answer.body.message], [500, message], `${method} ${path}`);
    }
    const made = await api.send({ method: 'POST', path: secrets, body: secret('a', 'x') });
    assert.deepEqual([made.status, made.body.reason], [409, 'AlreadyExists']);
    await api.post(secrets, secret('b', 'other'));
    assert.equal(decoded(await api.get(`${secrets}/b`)), 'other');
    assert.equal((await api.get<ObjectList>(maps)).items.length > 0, true);
    assert.equal((await api.send({ method: 'GET', path: '/livez' })).status, 200);
    const ready = await api.send<string>({ method: 'GET', path: '/readyz/stored-objects' });
    assert.equal(ready.status, 500);
    assert.ok(ready.body.includes(keyOf('a')), ready.body);

    use(['secretbox three,two']);
    await server.rereadStored();
    assert.deepEqual(await passwords(api), ['hunter2', 'other']);
    assert.equal((await api.send({ method: 'GET', path: '/readyz' })).status, 200);
    await stop();
  },
  async 'values that were changed or exchanged in the store are refused'({ open, prefix }) {
    const raw = await open();
    const { store } = encrypted(raw, ['aesgcm five', 'secretbox three,two'], prefix);
    const first = await startMemoryServer({ store });
    for (const each of ['x', 'y', 'z']) await first.api.post(secrets, secret(each, each));
    const values = new Map<string, Uint8Array>();
    for (const each of ['x', 'y', 'z'])
      values.set(each, (await raw.get(keyOf(each)))?.value ?? new Uint8Array());
    await first.stop();
    const again = await open();
    const changed = Buffer.from(values.get('z') ?? []);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    const put = (each: string, value: Uint8Array = new Uint8Array()) => ({
      put: keyOf(each),
      value,
    });
    await again.transact({
      compare: [],
      write: [put('x', values.get('y')), put('y', values.get('x')), put('z', changed)],
    });
    const { api, stop } = await startMemoryServer({
      store: encrypted(again, ['aesgcm five', 'secretbox three,two'], prefix).store,
    });
    for (const each of ['x', 'y', 'z']) {
      const { status, body } = await api.send({ method: 'GET', path: `${secrets}/${each}` });
      const message = 'Internal error occurred: cipher: message authentication failed';
      assert.deepEqual([status, body.message], [500, message]);
    }
    assert.equal(decoded(await api.get(`${secrets}/b`)), 'other');
    await stop();
  },
};

for (const backend of backends) {
  describe(`encryption at rest in ${backend.name}`, {
    skip: backend.name === 'etcd' ? (missing ?? false) : false,
    timeout,
  }, () => {
    for (const [name, run] of Object.entries(cases)) test(name, () => run(backend));
  });
}

test('without a configuration encrypted values are errors, not objects and not a crash', {
  timeout,
}, async () => {
  const raw = openMemoryStore(clock);
  const { store } = encrypted(raw, ['aesgcm one']);
  const first = await startMemoryServer({ store });
  await first.api.post(secrets, secret('a', 'hunter2'));
  first.api.close();
  await first.server.stop();
  const { api, stop } = await startMemoryServer({ store: raw });
  const { status, body } = await api.send({ method: 'GET', path: `${secrets}/a` });
  const message = 'Internal error occurred: identity transformer tried to read encrypted data';
  assert.deepEqual([status, body.message], [500, message]);
  await stop();
});

test('a server that another writes to with a key it has not got ends its watches and says why', {
  skip: missing ?? false,
  timeout,
}, async () => {
  const open = () => openEtcdStore({ endpoints: [etcd?.url ?? ''], prefix: '/two', ...clock });
  const one = encrypted(await open(), ['aesgcm one', 'identity'], '/two');
  const two = encrypted(await open(), ['aesgcm two,one', 'identity'], '/two');
  const first = await startMemoryServer({ store: one.store });
  const second = await startMemoryServer({ store: two.store });
  await first.api.post(secrets, secret('a', 'before'));
  const watch = await first.api.watch(`${secrets}?watch=1`);
  await second.api.put(`${secrets}/a`, secret('a', 'after'));
  await watch.ended;
  const last = watch.events.at(-1)?.object as unknown as { readonly message: string };
  const reason = 'no matching key was found for the provided AES transformer';
  assert.equal(last.message, `Internal error occurred: ${reason}`);
  assert.equal((await first.api.send({ method: 'GET', path: `${secrets}/a` })).status, 500);
  // Gone is gone, whether it could be read or not.
  await second.api.delete(`${secrets}/a`);
  assert.equal((await first.api.send({ method: 'GET', path: `${secrets}/a` })).status, 404);
  await second.api.post(secrets, secret('a', 'again'));
  assert.equal((await first.api.send({ method: 'GET', path: `${secrets}/a` })).status, 500);
  one.use(['aesgcm two,one', 'identity']);
  await first.server.rereadStored();
  assert.equal(decoded(await first.api.get(`${secrets}/a`)), 'again');
  await first.stop();
  await second.stop();
});

test('keys change while many write, and nothing is lost or left behind', { timeout }, async () => {
  const raw = openMemoryStore(clock);
  const { store, use } = encrypted(raw, ['aescbc k0', 'identity']);
  const { api, stop } = await startMemoryServer({ store });
  const names = Array.from({ length: 20 }, (_, n) => `s${n}`);
  await Promise.all(names.map((name) => api.post(secrets, secret(name, '0'))));
  const types = ['aesgcm', 'secretbox', 'aescbc'];
  for (let round = 1; round <= 12; round += 1) {
    const old = Array.from({ length: round }, (_, n) => `${types[n % 3]} k${n}`);
    const writes = names.map((name) => api.put(`${secrets}/${name}`, secret(name, String(round))));
    use([`${types[round % 3]} k${round}`, ...old.reverse(), 'aescbc k0']);
    await Promise.all(writes);
  }
  const { items } = await api.get<ObjectList>(secrets);
  assert.deepEqual(
    items.map(decoded),
    names.map(() => '12'),
  );
  // As `kubectl get secrets -o json | kubectl replace -f -`.
  await Promise.all(items.map((item) => api.put(`${secrets}/${item.metadata.name}`, item)));
  for (const name of names)
    assert.match(await rawText(raw, keyOf(name)), /^k8s:enc:aesgcm:v1:k12:/);
  await stop();
});

test('an export holds encrypted values as they are stored, and plain text only where it is asked for', {
  timeout,
}, async () => {
  const config = join(directory, 'config.yaml');
  await writeFile(config, configText(['aesgcm one']), { mode: 0o600 });
  const raw = await openEmbeddedStore({ directory: join(directory, 'data', 'store'), ...clock });
  const first = await startMemoryServer({ store: encrypted(raw, ['aesgcm one']).store });
  await first.api.post(secrets, secret('a', 'hunter2'));
  await first.stop();
  const fairlead = (line: string) => runCommand(line, directory);
  const from = '--data-dir data';
  assert.equal((await fairlead(`storage export ${from} -o sealed`)).code, 0);
  const sealed = await readFile(join(directory, 'sealed'), 'utf8');
  assert.ok(!sealed.includes('aHVudGVyMg') && sealed.includes(keyOf('a')));
  for (const flags of ['--decrypt', `--encryption-provider-config ${config}`]) {
    const { code, err } = await fairlead(`storage export ${from} ${flags}`);
    assert.deepEqual([code === 0, err.includes('without each other')], [false, true]);
  }
  const plain = await fairlead(
    `storage export ${from} --decrypt --encryption-provider-config ${config} -o plain`,
  );
  assert.equal(plain.code, 0, plain.err);
  assert.ok((await readFile(join(directory, 'plain'), 'utf8')).includes('aHVudGVyMg'));

  await writeFile(join(directory, 'other.yaml'), configText(['aesgcm two']), { mode: 0o600 });
  const wrong = await fairlead(
    'storage import sealed --data-dir wrong --encryption-provider-config other.yaml',
  );
  assert.match(wrong.err, /Cannot read the value of "\/registry\/secrets\/default\/a"/);
  assert.ok(!existsSync(join(directory, 'wrong', 'store')));

  for (const [file, flags] of [
    ['sealed', ''],
    ['sealed', ` --encryption-provider-config ${config}`],
    ['plain', ` --encryption-provider-config ${config}`],
  ]) {
    await rm(join(directory, 'back'), { recursive: true, force: true });
    const imported = await fairlead(`storage import ${file} --data-dir back${flags}`);
    assert.equal(imported.code, 0, imported.err);
    const store = await openEmbeddedStore({
      directory: join(directory, 'back', 'store'),
      ...clock,
    });
    assert.match(await rawText(store, keyOf('a')), /^k8s:enc:aesgcm:v1:one:/);
    const { api, stop } = await startMemoryServer({
      store: encrypted(store, ['aesgcm one']).store,
    });
    assert.deepEqual(await passwords(api), ['hunter2']);
    await stop();
  }
  if (etcd === undefined) return;
  const to = `--etcd-servers ${etcd.url} --etcd-prefix /imported`;
  const bound = await fairlead(`storage import sealed ${to}`);
  assert.match(bound.err, /its value is encrypted for another path/);
  const moved = await fairlead(
    `storage import sealed ${to} --encryption-provider-config ${config}`,
  );
  assert.equal(moved.code, 0, moved.err);
  const store = await openEtcdStore({ endpoints: [etcd.url], prefix: '/imported', ...clock });
  const { api, stop } = await startMemoryServer({
    store: encrypted(store, ['aesgcm one'], '/imported').store,
  });
  assert.deepEqual(await passwords(api), ['hunter2']);
  await stop();
});

test('a configuration that cannot be used is refused before anything is made', {
  timeout,
}, async () => {
  const files: readonly [string, string][] = [
    [configText(['kms one']), 'kms is not supported'],
    ['{', 'it is not YAML'],
  ];
  for (const [text, expected] of files) {
    await writeFile(join(directory, 'bad.yaml'), text);
    await chmod(join(directory, 'bad.yaml'), 0o600);
    const ran = await runCommand(
      'apiserver --data-dir fresh --secure-port 0 --encryption-provider-config bad.yaml',
      directory,
    );
    assert.notEqual(ran.code, 0);
    assert.ok(ran.err.includes(expected), ran.err);
    assert.ok(!existsSync(join(directory, 'fresh')));
  }
  const missingFile = await runCommand(
    'apiserver --data-dir fresh --encryption-provider-config none.yaml',
    directory,
  );
  assert.match(missingFile.err, /Cannot read --encryption-provider-config/);
});
