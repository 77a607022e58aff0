// Machines that join: tokens, the authority they trust, certificates by request, and their renewal; all over real connections.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { makeAuthority } from '../../../src/apiserver/certificates/authority.ts';
import { renderKubeconfig } from '../../../src/apiserver/certificates/kubeconfig-file.ts';
import { makeCertificateRequest } from '../../../src/apiserver/certificates/x509.ts';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import { callApi } from '../../../src/client/api-call.ts';
import { createHttpTransport } from '../../../src/client/http-transport.ts';
import { type Connection, readConnection } from '../../../src/client/read-kubeconfig.ts';
import { createRenewableTransport } from '../../../src/client/renewable-transport.ts';
import { watchResource } from '../../../src/client/watch.ts';
import { bootstrapSigner } from '../../../src/controllers/bootstrap-signer/run.ts';
import { startControllers } from '../../../src/controllers/run.ts';
import { tokenCleaner } from '../../../src/controllers/token-cleaner/run.ts';
import { createFakeClock } from '../../../src/host/fake-clock.ts';
import { publicKeyPin } from '../../../src/join/discover-authority.ts';
import { kubeconfigPath, readPair } from '../../../src/join/identity-files.ts';
import { ensureJoined } from '../../../src/join/join-cluster.ts';
import {
  renewalTime,
  renewClientCertificate,
  renewServingCertificate,
} from '../../../src/join/renew-certificates.ts';
import type { CertificateSigningRequest } from '../../../src/kinds/certificate-signing-request/types.ts';
import { clusterInfo } from '../../../src/kinds/config-map/cluster-info.ts';
import type { ConfigMap } from '../../../src/kinds/config-map/types.ts';
import { serviceDefinition } from '../../../src/kinds/service/definition.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { type MemoryServer, startMemoryServer, testCredentials } from '../harness/memory-server.ts';
import { type Ran, runCommand } from '../harness/run-command.ts';

const timeout = 60_000;
const controllerClock = createFakeClock(Date.now());
let directory: string;
let running: MemoryServer;
let server: string;
const stopping = new AbortController();
let controllers: Promise<void>;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'fairlead-join-'));
  running = await startMemoryServer();
  server = `https://127.0.0.1:${running.server.address.port}`;
  const { authority, administrator } = testCredentials();
  await writeFile(
    join(directory, 'admin'),
    renderKubeconfig({ server, authority: authority.certificate, client: administrator }),
  );
  const identity = { user: 'system:kube-controller-manager', groups: [] };
  controllers = startControllers({
    transport: {
      send: createLocalCall(running.server.handle, identity),
      close: () => Promise.resolve(),
    },
    log: silentLog,
    authorityCertificate: '',
    signal: stopping.signal,
    clock: controllerClock,
    controllers: [bootstrapSigner, tokenCleaner],
  });
});
after(async () => {
  stopping.abort();
  await controllers;
  await running.stop();
  await rm(directory, { recursive: true });
});

const fairlead = (line: string): Promise<Ran> => runCommand(line, directory);

async function createToken(flags = ''): Promise<string> {
  const made = await fairlead(`token create --kubeconfig admin --server ${server}${flags}`);
  assert.equal(made.code, 0, made.err);
  return /^echo (\S+) \| fairlead node /.exec(made.out)?.[1] ?? '';
}

const goodPin = (): string => publicKeyPin(testCredentials().authority.certificate);

async function joinAs(
  nodeName: string,
  token: string,
  servers: readonly [string, ...string[]] = [server],
): Promise<Connection> {
  return await ensureJoined(
    {
      directory: join(directory, nodeName),
      nodeName,
      now: Date.now(),
      print: () => {},
      request: { servers, token, pins: [goodPin()] },
    },
    AbortSignal.timeout(timeout),
  );
}

type UserInfo = {
  readonly username: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
};

async function whoAmI(connection: Connection): Promise<UserInfo> {
  const transport = createHttpTransport(connection);
  try {
    const answer = await callApi(
      { transport, userAgent: 'test' },
      { method: 'POST', path: '/apis/authentication.k8s.io/v1/selfsubjectreviews', body: {} },
    );
    return (answer as { status: { userInfo: UserInfo } }).status.userInfo;
  } finally {
    await transport.close();
  }
}

test('of several servers the first that answers is joined, and all are remembered', {
  timeout,
}, async () => {
  const dead = 'https://127.0.0.1:1';
  const connection = await joinAs('remembers', await createToken(), [dead, server]);
  assert.equal(connection.server, dead);
  assert.deepEqual(connection.otherServers, [server]);
  const got = await fairlead('get services --kubeconfig remembers/kubeconfig');
  assert.match(got.out, /^NAME .*\nkubernetes /, got.err);
});

test('token create prints the whole command, and the token joins a node', { timeout }, async () => {
  const made = await fairlead(`token create --kubeconfig admin --server ${server}`);
  const form = new RegExp(
    `^echo ([a-z0-9]{6}\\.[a-z0-9]{16}) \\| fairlead node --join ${server} --token-file - --discovery-token-ca-cert-hash sha256:${goodPin()}\n$`,
  );
  const [, token = ''] = form.exec(made.out) ?? [];
  const connection = await joinAs('one', token);
  const { extra, ...user } = await whoAmI(connection);
  assert.deepEqual(user, {
    username: 'system:node:one',
    groups: ['system:nodes', 'system:authenticated'],
  });
  const [credential = ''] = extra?.['authentication.kubernetes.io/credential-id'] ?? [];
  assert.match(credential, /^X509SHA256=[0-9a-f]{64}$/);
  for (const file of ['kubeconfig', 'pki/client.pem', 'pki/ca.crt']) {
    assert.equal((await stat(join(directory, 'one', file))).mode & 0o777, 0o600, file);
  }
  // Again, with an unknown token: the credentials from joining are used.
  assert.deepEqual(await joinAs('one', 'aaaaaa.aaaaaaaaaaaaaaaa'), connection);
  await assert.rejects(
    ensureJoined(
      { directory: join(directory, 'one'), nodeName: 'two', now: Date.now(), print: () => {} },
      AbortSignal.timeout(timeout),
    ),
    /belongs to the node "one", not "two"/,
  );
});

test('without a way out of the kubeconfig, token create names what the server advertises', {
  timeout,
}, async () => {
  const made = await fairlead('token create --kubeconfig admin --ttl 0 --usages authentication');
  assert.match(
    made.out,
    /^echo \S+ \| fairlead node --join https:\/\/192\.0\.2\.1:\d+ --token-file - /,
  );
});

test('tokens are listed without their secrets, and taken away', { timeout }, async () => {
  const token = await createToken(' --description rack-7 --ttl 2h');
  const [id = '', secret = ''] = token.split('.');
  const listed = await fairlead('token list --kubeconfig admin');
  const group = 'system:bootstrappers:fairlead:default-node-token';
  const row = listed.out.split('\n').find((line) => line.startsWith(id)) ?? '';
  assert.match(row, new RegExp(`^${id} +(120m|119m) +signing,authentication +${group} +rack-7$`));
  assert.equal(listed.out.includes(secret), false);
  const gone = await fairlead(`token delete ${token} --kubeconfig admin`);
  assert.deepEqual([gone.code, gone.out], [0, `bootstrap token "${id}" deleted\n`]);
  await assert.rejects(joinAs('refused', token), /server rejected the token/);
  const again = await fairlead(`token delete ${id} --kubeconfig admin`);
  assert.deepEqual([again.code, again.err], [1, `There is no bootstrap token "${id}".\n`]);
});

async function signatureIs(token: string, isThere: boolean): Promise<void> {
  const path = `/api/v1/namespaces/${clusterInfo.namespace}/configmaps/${clusterInfo.name}`;
  const key = `jws-kubeconfig-${token.split('.')[0]}`;
  const has = async (): Promise<boolean> =>
    key in ((await running.api.get<ConfigMap>(path)).data ?? {});
  while ((await has()) !== isThere) await controllerClock.advance(1000);
}

test('what is wrong is said, and nothing is written', { timeout }, async () => {
  const token = await createToken();
  await signatureIs(token, true);
  const hash = `--discovery-token-ca-cert-hash sha256:${goodPin()}`;
  const other = publicKeyPin(makeAuthority(Date.now()).certificate);
  const [id] = token.split('.');
  const signing = await createToken(' --usages signing');
  await signatureIs(signing, true);
  const cases: readonly (readonly [string, number, RegExp])[] = [
    [`--token ${token}`, 2, /--discovery-token-ca-cert-hash is missing/],
    [`${hash}`, 2, /--token-file is missing/],
    [`--token abc ${hash}`, 2, /not a bootstrap token/],
    [`--token ${token} --discovery-token-ca-cert-hash sha256:12`, 2, /64 hex digits/],
    [`--token ${token} ${hash} --kubeconfig admin`, 2, /Cannot use --join with --kubeconfig/],
    [
      `--token ${token} --discovery-token-ca-cert-hash sha256:${other}`,
      1,
      /authority does not match --discovery-token-ca-cert-hash, it has sha256:/,
    ],
    [`--token ${id}.0000000000000000 ${hash}`, 1, /not signed with this token/],
    [`--token aaaaaa.0000000000000000 ${hash}`, 1, /server rejected the token/],
    [`--token ${signing} ${hash}`, 1, /server rejected the token/],
    [
      '--token aaaaaa.0000000000000000 --discovery-token-unsafe-skip-ca-verification',
      1,
      /unknown, has expired, or is not for signing/,
    ],
  ];
  for (const [flags, code, text] of cases) {
    const ran = await fairlead(`node --node-name bad --data-dir bad --join ${server} ${flags}`);
    assert.equal(ran.code, code, ran.err);
    assert.match(ran.err, text);
    assert.equal(existsSync(join(directory, 'bad')), false, flags);
  }
  const unreachable = await fairlead(
    `node --node-name bad --data-dir bad --join https://127.0.0.1:1 --token ${token} ${hash}`,
  );
  assert.match(unreachable.err, /Cannot join https:\/\/127\.0\.0\.1:1: connection failed/);
  assert.equal(existsSync(join(directory, 'bad')), false);
});

test('a signature alone is enough for who asks for that', { timeout }, async () => {
  const token = await createToken();
  await signatureIs(token, true);
  const connection = await ensureJoined(
    {
      directory: join(directory, 'trusting'),
      nodeName: 'trusting',
      now: Date.now(),
      print: () => {},
      request: { servers: [server], token, pins: [] },
    },
    AbortSignal.timeout(timeout),
  );
  assert.equal(connection.certificateAuthority, testCredentials().authority.certificate);
});

test('a token that is over is refused, and goes', { timeout }, async () => {
  const token = await createToken(' --ttl 1h');
  const [id] = token.split('.');
  const path = `/api/v1/namespaces/kube-system/secrets/bootstrap-token-${id}`;
  await running.api.patch(path, {
    stringData: { expiration: new Date(Date.now() - 1000).toISOString().replace(/\.\d+/, '') },
  });
  await assert.rejects(joinAs('late', token), /server rejected the token/);
  const isThere = async (): Promise<boolean> =>
    (await running.api.send({ method: 'GET', path })).status === 200;
  while (await isThere()) await controllerClock.advance(1000);
  await signatureIs(token, false);
});

test('a client certificate is renewed at 70 to 90 percent of its life, and a watch lives on', {
  timeout,
}, async () => {
  const connection = await joinAs('renewing', await createToken());
  const home = join(directory, 'renewing');
  const old = (await readPair(home, 'client'))?.certificate ?? '';
  const { validFrom, validTo } = new X509Certificate(old);
  const life = Date.parse(validTo) - Date.parse(validFrom);
  const share = (random: number): number =>
    (renewalTime(old, random) - Date.parse(validFrom)) / life;
  assert.deepEqual(
    [share(0), share(1)].map((one) => one.toFixed(6)),
    ['0.700000', '0.900000'],
  );

  const transport = createRenewableTransport(connection);
  const caller = { transport, userAgent: 'test' };
  const stop = new AbortController();
  const seen: string[] = [];
  let reported = (): void => {};
  const watching = (async () => {
    for await (const { type, object } of watchResource(caller, serviceDefinition, {
      namespace: 'default',
      signal: stop.signal,
    })) {
      if (type !== 'BOOKMARK') seen.push(object.metadata.name ?? '');
      reported();
    }
  })();
  const until = async (name: string): Promise<void> => {
    while (!seen.includes(name)) await new Promise<void>((resolve) => (reported = resolve));
  };
  await until('kubernetes');
  const clock = createFakeClock(renewalTime(old, 0.5) - 1000);
  const renewed = new Promise<void>((resolve) => {
    void renewClientCertificate(
      { caller, directory: home, nodeName: 'renewing', clock, log: silentLog, random: () => 0.5 },
      async () => {
        transport.use(await readConnection([kubeconfigPath(home)]));
        resolve();
      },
      stop.signal,
    );
  });
  // It reads what it has before it waits.
  while (clock.waiting() === 0) await clock.settle();
  await clock.advance(999);
  assert.equal((await readPair(home, 'client'))?.certificate, old);
  await clock.advance(1);
  await renewed;
  const fresh = await readConnection([kubeconfigPath(home)]);
  assert.notEqual((await readPair(home, 'client'))?.certificate, old);
  assert.notEqual(fresh.clientKey, connection.clientKey);
  assert.equal(JSON.stringify(await whoAmI(fresh)).includes('system:node:renewing'), true);
  await callApi(caller, {
    method: 'GET',
    path: '/api/v1/nodes?fieldSelector=metadata.name%3Drenewing',
  });
  // The previous watch is still open: had it been cut, it would have ended.
  await running.api.post('/api/v1/namespaces/default/services', {
    metadata: { name: 'later' },
    spec: { ports: [{ port: 80 }] },
  });
  await until('later');
  stop.abort();
  await watching;
  await transport.close();
});

async function makeNode(name: string, address: string): Promise<void> {
  await running.api.post('/api/v1/nodes', { metadata: { name } });
  await running.api.patch(`/api/v1/nodes/${name}/status`, {
    status: { addresses: [{ type: 'InternalIP', address }] },
  });
}

test('a node gets a serving certificate for its name, and for addresses after approval', {
  timeout,
}, async () => {
  const connection = await joinAs('serving', await createToken());
  // The server sees the node speak from loopback: this it has by its own word alone.
  await makeNode('serving', '192.0.2.77');
  const transport = createHttpTransport(connection);
  const stop = new AbortController();
  const home = join(directory, 'serving');
  const made: string[] = [];
  let reported = (): void => {};
  const keeping = renewServingCertificate(
    {
      caller: { transport, userAgent: 'test' },
      ...{ directory: home, nodeName: 'serving', clock: createFakeClock(Date.now()) },
      ...{ log: silentLog, random: () => 0 },
    },
    ['serving', '192.0.2.77'],
    async ({ certificate }) => {
      made.push(certificate);
      reported();
    },
    stop.signal,
  );
  const certificate = async (count: number): Promise<X509Certificate> => {
    while (made.length < count) await new Promise<void>((resolve) => (reported = resolve));
    return new X509Certificate(made[count - 1] ?? '');
  };
  const first = await certificate(1);
  assert.equal(first.subjectAltName, 'DNS:serving');
  assert.ok(first.verify(new X509Certificate(testCredentials().authority.certificate).publicKey));
  const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const { items } = await running.api.get<{ items: CertificateSigningRequest[] }>(collection);
  const [waiting, ...others] = items.filter(
    ({ spec, status }) => spec.username === 'system:node:serving' && !status.certificate,
  );
  assert.equal(others.length, 0);
  assert.deepEqual(waiting?.spec.extra?.['fairlead.dev/source-address'], ['127.0.0.1']);
  await running.api.patch(`${collection}/${waiting?.metadata.name}/approval`, {
    status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Me' }] },
  });
  assert.equal((await certificate(2)).subjectAltName, 'DNS:serving, IP Address:192.0.2.77');
  stop.abort();
  await keeping;
  assert.equal((await stat(join(home, 'pki/serving.pem'))).mode & 0o777, 0o600);
  assert.match(await readFile(join(home, 'pki/serving.pem'), 'utf8'), /BEGIN PRIVATE KEY/);
  await transport.close();
});

type Asking = {
  readonly node: string;
  readonly signer: string;
  readonly usage: string;
  readonly names?: readonly string[];
  readonly groups?: readonly string[];
};

async function ask(connection: Connection, asking: Asking): Promise<string | number> {
  const { request } = makeCertificateRequest({
    subject: {
      commonName: `system:node:${asking.node}`,
      organizations: asking.groups ?? ['system:nodes'],
    },
    ...(asking.names === undefined ? {} : { names: asking.names }),
  });
  const transport = createHttpTransport(connection);
  const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  try {
    const made = (await callApi(
      { transport, userAgent: 'test' },
      {
        method: 'POST',
        path: collection,
        body: {
          metadata: { generateName: 'asked-' },
          spec: {
            request: Buffer.from(request).toString('base64'),
            signerName: asking.signer,
            usages: ['digital signature', asking.usage],
            // Who asks is for the server to say.
            username: 'system:node:another-node',
          },
        },
      },
    )) as CertificateSigningRequest;
    return made.metadata.name ?? '';
  } catch (error) {
    return (error as { status: { code: number } }).status.code;
  } finally {
    await transport.close();
  }
}

const client = 'kubernetes.io/kube-apiserver-client-kubelet';
const serving = 'kubernetes.io/kubelet-serving';

test('a node cannot become another, nor pass for the server', { timeout }, async () => {
  const connection = await joinAs('greedy', await createToken());
  await makeNode('greedy', '127.0.0.1');
  await makeNode('neighbour', '192.0.2.99');
  const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  for (const [signer, usage] of [
    [client, 'client auth'],
    [serving, 'server auth'],
  ] as const) {
    assert.equal(await ask(connection, { node: 'neighbour', signer, usage }), 403);
  }
  const waiting = [
    await ask(connection, {
      node: 'greedy',
      signer: serving,
      usage: 'server auth',
      names: ['192.0.2.99'],
    }),
    await ask(connection, {
      node: 'greedy',
      signer: serving,
      usage: 'server auth',
      names: ['kubernetes'],
    }),
    // Its own address by its own word, but the server's as well.
    await ask(connection, {
      node: 'greedy',
      signer: serving,
      usage: 'server auth',
      names: ['127.0.0.1'],
    }),
    await ask(connection, { node: 'greedy', signer: client, usage: 'client auth', names: ['x'] }),
    await ask(connection, {
      node: 'greedy',
      signer: 'kubernetes.io/kube-apiserver-client',
      usage: 'client auth',
    }),
  ];
  // Requests are looked at in order: when this one has its certificate, the others have been judged.
  const last = await ask(connection, { node: 'greedy', signer: client, usage: 'client auth' });
  const read = (name: string | number) =>
    running.api.get<CertificateSigningRequest>(`${collection}/${name}`);
  while ((await read(last)).status.certificate === undefined) await new Promise(setImmediate);
  for (const name of waiting) {
    const { spec, status } = await read(name);
    assert.deepEqual(status, {}, `${name} waits`);
    assert.equal(spec.username, 'system:node:greedy');
  }
  const [first] = waiting;
  const path = `${collection}/${first}/approval`;
  const approved = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Me' }] } };
  const transport = createHttpTransport(connection);
  await assert.rejects(
    callApi(
      { transport, userAgent: 'test' },
      { method: 'PATCH', path, contentType: 'application/merge-patch+json', body: approved },
    ),
    /forbidden/,
  );
  await transport.close();
  // A person may, and the signer still keeps to its rules.
  await running.api.patch(path, approved);
  while ((await read(first ?? '')).status.certificate === undefined)
    await new Promise(setImmediate);
  const masters = {
    node: 'greedy',
    signer: client,
    usage: 'client auth',
    groups: ['system:masters'],
  };
  const name = await ask(connection, masters);
  await running.api.patch(`${collection}/${name}/approval`, approved);
  const failed = async (): Promise<boolean> =>
    ((await read(name)).status.conditions ?? []).some(({ type }) => type === 'Failed');
  while (!(await failed())) await new Promise(setImmediate);
  assert.equal((await read(name)).status.certificate, undefined);
});
