// Kills a server that encrypts, under load and while its keys change: every acknowledged write is read again with the keys of then.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { KubeObject } from '../../src/meta/object.ts';
import type { ApiClient, ObjectList } from '../parts/harness/api-client.ts';
import { makeCrashServer } from './api-crash-server.ts';

const secrets = '/api/v1/namespaces/default/secrets';
/** In every value, so that a look at the files shows whether one is plain. */
const mark = Buffer.from('plain text that must not be on the disk').toString('base64');
const reloads = /automatic_reloads_total\{status="success"\} (\d+)/;

function configText(keys: readonly string[]): string {
  const provider = (text: string): object => {
    const [type = '', name = ''] = text.split(' ');
    return { [type]: { keys: [{ name, secret: Buffer.alloc(32, name).toString('base64') }] } };
  };
  return JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources: ['secrets'], providers: keys.map(provider) }],
  });
}

/** Writes until the server is killed; the number of the last acknowledged write of each. */
async function write(api: ApiClient, writers: number, acknowledged: number[]): Promise<void> {
  const one = async (writer: number): Promise<void> => {
    for (let n = (acknowledged[writer] ?? 0) + 1; ; n += 1) {
      const object = {
        metadata: { name: `s${writer}` },
        data: { mark },
        stringData: { n: `${n}` },
      };
      const { status } = await api.send({
        method: 'PUT',
        path: `${secrets}/s${writer}`,
        body: object,
      });
      assert.ok(status < 300);
      acknowledged[writer] = n;
    }
  };
  await Promise.allSettled(Array.from({ length: writers }, (_, writer) => one(writer)));
}

const numberOf = (object: KubeObject | undefined): number => {
  const { data } = object as { data?: { n?: string } };
  return Number(Buffer.from(data?.n ?? '', 'base64').toString());
};

/** Until the file was read again and some writes were made with its keys. */
async function untilUsed(api: ApiClient, acknowledged: readonly number[]): Promise<void> {
  const total = (): number => acknowledged.reduce((sum, n) => sum + n, 0);
  for (;;) {
    const { body } = await api.send<string>({ method: 'GET', path: '/metrics' });
    if (Number(reloads.exec(body)?.[1] ?? 0) >= 1) break;
  }
  const before = total();
  while (total() < before + 50) await api.ping();
}

function verify(items: readonly KubeObject[], acknowledged: number[]): void {
  for (const [n, wanted] of acknowledged.entries()) {
    const found = numberOf(items.find(({ metadata }) => metadata.name === `s${n}`));
    // The last one may have been written without an answer.
    assert.ok(found === wanted || found === wanted + 1, `s${n}: ${found}, not ${wanted}`);
    acknowledged[n] = found;
  }
}

test('an encrypting server outlives kills under load and changes of its keys', {
  timeout: 180_000,
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-encryption-crash-'));
  const config = join(directory, 'encryption.yaml');
  const use = (...keys: string[]): Promise<void> =>
    writeFile(config, configText(keys), { mode: 0o600 });
  await use('aesgcm k0');
  const data = join(directory, 'data');
  const server = await makeCrashServer(() => [
    ...['--encryption-provider-config', config, '--encryption-provider-config-automatic-reload'],
    ...['--data-dir', data],
  ]);
  try {
    const writers = 8;
    const acknowledged: number[] = [];
    const changes = [
      ['secretbox k1', 'aesgcm k0'],
      ['aescbc k2', 'secretbox k1'],
      ['aesgcm k3', 'aescbc k2'],
    ];
    let api = await server.start();
    for (let n = 0; n < writers; n += 1)
      await api.post(secrets, { metadata: { name: `s${n}` }, data: { mark } });
    for (const keys of changes) {
      const writing = write(api, writers, acknowledged);
      await use(...keys);
      await untilUsed(api, acknowledged);
      await server.kill();
      await writing;
      api.close();
      api = await server.start();
      verify((await api.get<ObjectList>(secrets)).items, acknowledged);
      assert.equal((await api.send({ method: 'GET', path: '/readyz' })).status, 200);
    }
    api.close();
    await server.kill();
    for (const name of await readdir(join(data, 'store'))) {
      if (name.startsWith('lock')) continue;
      const bytes = await readFile(join(data, 'store', name));
      assert.ok(!bytes.includes(mark), `${name} holds plain text`);
    }
  } finally {
    await server.remove();
    await rm(directory, { recursive: true, force: true });
  }
});
