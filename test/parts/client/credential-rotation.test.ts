// Tokens and certificates that are replaced under a running part: it goes on with the new ones, and needs no restart.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { issueClientCertificate } from '../../../src/apiserver/certificates/authority.ts';
import { startControllers } from '../../../src/controllers/run.ts';
import { withConnection } from '../../../src/flags/open-connection.ts';
import { createFakeClock } from '../../../src/host/fake-clock.ts';
import { silentLog } from '../../../src/observe/log.ts';
import type { ObjectList } from '../harness/api-client.ts';
import { startMemoryServer, testCredentials } from '../harness/memory-server.ts';

const limit = { timeout: 60_000 };

test('a part takes over a token that was replaced, and the old one ends', limit, async (t) => {
  const cluster = await startCluster(t);
  const { file, path } = cluster;
  await file('tokens.csv', 'first,controllers,1,system:masters\n');
  await file('token', 'first\n');
  await file('kubeconfig', cluster.kubeconfig({ tokenFile: 'token' }));
  const part = startPart(t, path('kubeconfig'));
  await cluster.isServed('before');
  await file('tokens.csv', 'second,controllers,1,system:masters\n');
  cluster.advanceServer(10_000);
  await file('token', 'second\n');
  await part.rereads();
  await cluster.isServed('after');
});

test(
  'a part takes over a certificate that was replaced, and the old one ends',
  limit,
  async (t) => {
    const cluster = await startCluster(t);
    const { file, path } = cluster;
    const write = async (user: string): Promise<void> => {
      const request = { commonName: user, organizations: [], days: 1, now: Date.now() };
      const pair = issueClientCertificate(testCredentials().authority, request);
      await file('client.crt', pair.certificate);
      await file('client.key', pair.privateKey);
    };
    await write('first');
    await cluster.allowOnly('first');
    const user = { 'client-certificate': 'client.crt', 'client-key': 'client.key' };
    await file('kubeconfig', cluster.kubeconfig(user));
    const part = startPart(t, path('kubeconfig'));
    await cluster.isServed('before');
    await cluster.allowOnly('second');
    await write('second');
    await part.rereads();
    await cluster.isServed('after');
  },
);

async function startCluster(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'fairlead-rotation-'));
  const path = (name: string): string => join(directory, name);
  const file = (name: string, text: string): Promise<void> => writeFile(path(name), text);
  await file('tokens.csv', '');
  let ahead = 0;
  const { api, server, stop } = await startMemoryServer({
    clock: { now: () => Date.now() + ahead },
    access: { tokens: { file: path('tokens.csv') } },
  });
  t.after(async () => {
    await stop();
    await rm(directory, { recursive: true });
  });
  await file('ca.crt', testCredentials().authority.certificate);
  const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
  return {
    file,
    path,
    /** The server looks at its token file now and then only. */
    advanceServer(ms: number): void {
      ahead += ms;
    },
    kubeconfig: (user: object): string =>
      JSON.stringify({
        clusters: [
          {
            name: 'c',
            cluster: {
              server: `https://127.0.0.1:${server.address.port}`,
              'certificate-authority': 'ca.crt',
            },
          },
        ],
        users: [{ name: 'u', user }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    async allowOnly(user: string): Promise<void> {
      await api.send({ method: 'DELETE', path: `${bindings}/part` });
      await api.post(bindings, {
        metadata: { name: 'part' },
        roleRef: {
          apiGroup: 'rbac.authorization.k8s.io',
          kind: 'ClusterRole',
          name: 'cluster-admin',
        },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
      });
    },
    /** A new Service gets its slice, which takes a write by the part. */
    async isServed(name: string): Promise<void> {
      await api.post('/api/v1/namespaces/default/services', {
        metadata: { name },
        spec: { selector: { app: name }, ports: [{ port: 80 }] },
      });
      const slices = `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name%3D${name}`;
      while ((await api.get<ObjectList<unknown>>(slices)).items.length === 0);
    },
  };
}

function startPart(t: TestContext, kubeconfig: string) {
  const clock = createFakeClock();
  const ending = new AbortController();
  const replaced: string[] = [];
  let notified = (): void => {};
  const log = {
    ...silentLog,
    info(message: string): void {
      replaced.push(message);
      notified();
    },
  };
  const { signal } = ending;
  const world = {
    write: () => {},
    writeError: () => {},
    env: {},
    cwd: () => '/',
    now: Date.now,
    startedAt: 0,
    interrupted: signal,
  };
  const running = withConnection({ kubeconfig }, { world, log, clock }, ({ transport }) =>
    startControllers({ transport, log: silentLog, authorityCertificate: 'CERTIFICATE', signal }),
  );
  t.after(async () => {
    ending.abort();
    await running;
  });
  return {
    /** Resolves when it has taken over what its files say now. */
    async rereads(): Promise<void> {
      const isNotified = new Promise<void>((resolve) => {
        notified = resolve;
      });
      while (clock.waiting() === 0) await clock.settle();
      await clock.advance(60_000);
      await isNotified;
      assert.deepEqual(replaced, ['Replaced credentials']);
    },
  };
}
