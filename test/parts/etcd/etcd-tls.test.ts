// etcd with client certificates, and progress requests of a watch.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  issueClientCertificate,
  issueServerCertificate,
  makeAuthority,
} from '../../../src/apiserver/certificates/authority.ts';
import { createEtcdClient } from '../../../src/storage/backends/etcd/client.ts';
import {
  decodeWatch,
  encodeProgressRequest,
  encodeWatch,
} from '../../../src/storage/backends/etcd/messages.ts';
import { openEtcdStore } from '../../../src/storage/backends/etcd/store.ts';
import { etcdMissing, startEtcd } from '../harness/running-etcd.ts';

const skip = etcdMissing() ?? false;
const now = (): number => Date.now();

test('members show and want certificates', { skip }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-etcd-tls-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const authority = makeAuthority(now());
  const server = issueServerCertificate(authority, { names: ['127.0.0.1'], now: now() });
  const client = issueClientCertificate(authority, { commonName: 'api', days: 1, now: now() });
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  const etcd = await startEtcd(1, {
    authority: await file('ca.crt', authority.certificate),
    certificate: await file('server.crt', server.certificate),
    privateKey: await file('server.key', server.privateKey),
  });
  t.after(etcd.stop);
  const open = (tls: object) =>
    openEtcdStore({ endpoints: etcd.urls, prefix: '/fairlead', now, tls });
  const ca = authority.certificate;
  const store = await open({ ca, cert: client.certificate, key: client.privateKey });
  const put = { put: '/a', value: Buffer.from('x') };
  assert.equal((await store.transact({ compare: [], write: [put] })).committed, true);
  await store.close();
  await assert.rejects(open({}), { reason: 'unavailable', message: /certificate/ });
  await assert.rejects(open({ ca }), { reason: 'unavailable' });
});

test('a watch answers a progress request with its revision', { skip }, async (t) => {
  const etcd = await startEtcd();
  t.after(etcd.stop);
  const client = createEtcdClient({ endpoints: etcd.urls });
  t.after(client.close);
  const stream = await client.openWatch();
  t.after(stream.close);
  assert.match(await stream.version(), /^3\.\d+\.\d+/);
  const rangeEnd = Buffer.from('/b');
  stream.send(encodeWatch({ key: '/a', rangeEnd, startRevision: 1 }));
  const put = { kind: 'put', key: '/elsewhere', value: Buffer.from('x'), lease: 0 } as const;
  const { revision } = await client.transact({ compare: [], success: [put], failure: [] });
  for await (const message of stream.responses) {
    const answer = decodeWatch(message);
    if (answer.isCreated) {
      stream.send(encodeProgressRequest());
      continue;
    }
    assert.deepEqual(answer.events, []);
    assert.equal(answer.revision, revision);
    return;
  }
});
