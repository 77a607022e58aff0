// Streams of containers below kubectl: the JavaScript client, who may open them, and how they end.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { Attach, Exec, KubeConfig, PortForward, type V1Status } from '@kubernetes/client-node';
import { parseAuditPolicy } from '../../../src/apiserver/audit/policy.ts';
import { defaultLimits } from '../../../src/apiserver/limits/limits.ts';
import { isPodReady } from '../../../src/kinds/pod/readiness.ts';
import { kubeconfigText } from '../harness/kubectl.ts';
import { testCredentials } from '../harness/memory-server.ts';
import { dialLoopback, type NodeHarness, pods, startNodeHarness } from '../harness/node-harness.ts';

const limit = { timeout: 60_000 };

const app = (command: readonly string[], more: object = {}): object => ({
  name: 'app',
  image: 'process',
  command,
  ...more,
});

async function startPod(harness: NodeHarness, name: string, ...containers: object[]) {
  await harness.run(name, { terminationGracePeriodSeconds: 0, containers });
  await harness.until(name, isPodReady);
}

function configOf({ server }: NodeHarness): KubeConfig {
  const config = new KubeConfig();
  config.loadFromString(kubeconfigText(server.server.address.port));
  return config;
}

test(
  'the JavaScript client runs commands, closes their input, and gets their status',
  limit,
  async (t) => {
    const harness = await startNodeHarness(t);
    await startPod(harness, 'web', app(['sleep', '1000']));
    const [stdout, stderr, stdin] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const command = ['sh', '-c', 'wc -c; echo err >&2; exit 7'];
    const ended = new Promise<V1Status>((resolve) => {
      const exec = new Exec(configOf(harness));
      void exec.exec('default', 'web', 'app', command, stdout, stderr, stdin, false, resolve);
    });
    const read = Promise.all([text(stdout), text(stderr)]);
    stdin.end(Buffer.alloc(1_000_000));
    const status = await ended;
    assert.deepEqual(await read, ['1000000\n', 'err\n']);
    assert.deepEqual(status.details?.causes, [{ reason: 'ExitCode', message: '7' }]);
  },
);

test(
  'the JavaScript client attaches, and forwards a port in channels of a WebSocket',
  limit,
  async (t) => {
    const harness = await startNodeHarness(t);
    await startPod(harness, 'echo', app(['cat'], { stdin: true }));
    const [out, input] = [new PassThrough(), new PassThrough()];
    const attach = new Attach(configOf(harness));
    const attached = await attach.attach('default', 'echo', 'app', out, null, input, false);
    input.write('hello\n');
    assert.equal(String(((await once(out, 'data')) as [Buffer])[0]), 'hello\n');
    attached.close();
    const server = createServer((_request, response) => response.end('served'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    // The pod is on the network of the node.
    const { port } = server.address() as AddressInfo;
    const [data, error, ask] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const forward = new PortForward(configOf(harness));
    await forward.portForward('default', 'echo', [port], data, error, ask);
    const received = waitForText(data, /served/);
    ask.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    await received;
    assert.equal(error.read(), null);
    const refused = new PassThrough();
    await forward.portForward(
      'default',
      'echo',
      [1],
      new PassThrough(),
      refused,
      new PassThrough(),
    );
    const [words] = (await once(refused, 'data')) as [Buffer];
    assert.match(words.toString(), /error forwarding port 1 to pod echo, .*connection refused/);
  },
);

/** All that came when the words have come. */
function waitForText(stream: Readable, wanted: RegExp | string): Promise<string> {
  return new Promise((resolve, reject) => {
    let all = '';
    stream.on('data', (chunk: Buffer) => {
      all += chunk.toString('latin1');
      if (typeof wanted === 'string' ? all.includes(wanted) : wanted.test(all)) resolve(all);
    });
    stream.once('close', () => reject(new Error(`"${wanted}" was never said, but: ${all}`)));
    stream.resume();
  });
}

type Opened = { readonly head: string; readonly socket: TLSSocket };

/** A request to upgrade, and bytes right behind it; what comes back up to the end of the head. */
async function upgrade(
  { server }: NodeHarness,
  path: string,
  options: UpgradeOptions = {},
): Promise<Opened> {
  const { headers = {}, behind = Buffer.alloc(0), isAdmin = true, method = 'GET' } = options;
  const { authority, administrator } = testCredentials();
  const socket = connect({
    host: '127.0.0.1',
    port: options.port ?? server.server.address.port,
    ca: authority.certificate,
    checkServerIdentity: () => undefined,
    ...(isAdmin ? { cert: administrator.certificate, key: administrator.privateKey } : {}),
  });
  const lines = Object.entries({
    host: 'localhost',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), behind]),
  );
  let got = Buffer.alloc(0);
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    got = Buffer.concat([got, chunk]);
    const end = got.indexOf('\r\n\r\n');
    if (end < 0) continue;
    socket.pause();
    socket.unshift(got.subarray(end + 4));
    return { head: got.toString('utf8', 0, end), socket };
  }
}

type UpgradeOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  readonly behind?: Buffer;
  readonly isAdmin?: boolean;
  readonly method?: string;
  /** Of the agent; absent: the API server's. */
  readonly port?: number;
};

/** A message as a client sends it, under a mask of zeros. */
const message = (...bytes: readonly number[]): Buffer =>
  Buffer.from([0x82, 0x80 | bytes.length, 0, 0, 0, 0, ...bytes]);

const execPath = (query: string): string => `${pods}/web/exec?${query}`;

test('data sent right after the request is received', limit, async (t) => {
  const harness = await startNodeHarness(t);
  await startPod(harness, 'web', app(['sleep', '1000']));
  const early = {
    headers: { 'sec-websocket-protocol': 'v5.channel.k8s.io' },
    behind: Buffer.concat([message(0, ...Buffer.from('early\n')), message(255, 0)]),
  };
  const ofAgent = '/exec/default/web/app?command=cat&input=1&output=1';
  for (const [path, options] of [
    [execPath('command=cat&stdin=1&stdout=1'), early],
    [ofAgent, { ...early, port: harness.node.server?.port ?? 0 }],
  ] as const) {
    const { head, socket } = await upgrade(harness, path, options);
    assert.match(head, /^HTTP\/1\.1 101 /);
    assert.match(await waitForText(socket, /"status":"Success"/), /early\n/);
    socket.destroy();
  }
});

test('old clients get base64 text, and no status on success', limit, async (t) => {
  const harness = await startNodeHarness(t);
  await startPod(harness, 'web', app(['sleep', '1000']));
  const { socket } = await upgrade(harness, execPath('command=echo&command=hi&stdout=1'), {
    headers: { 'sec-websocket-protocol': 'base64.channel.k8s.io' },
  });
  // The frame that closes the connection, after all else.
  const all = await waitForText(socket, Buffer.of(0x88, 2, 3, 0xe8).toString('latin1'));
  assert.ok(all.includes(`1${Buffer.from('hi\n').toString('base64')}`));
  assert.ok(!all.includes('Success'));
  socket.destroy();
});

test('streams need the verb create, and valid parameters', limit, async (t) => {
  const harness = await startNodeHarness(t);
  const { api } = harness;
  await startPod(harness, 'web', app(['sleep', '1000']), {
    ...app(['sleep', '1000']),
    name: 'side',
  });
  await api.post(pods, {
    metadata: { name: 'waiting' },
    spec: { containers: [app(['true'])], schedulerName: 'none' },
  });
  const role = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  await api.post(`${role}/roles`, {
    metadata: { name: 'reader' },
    rules: [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['get'] }],
  });
  await api.post(`${role}/rolebindings`, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'eve' }],
  });
  const ls = 'command=ls&stdout=1';
  const cases: readonly (readonly [string, UpgradeOptions, RegExp])[] = [
    [
      execPath(`${ls}&container=app`),
      { headers: { 'impersonate-user': 'eve' } },
      /403.*User \\"eve\\" cannot create resource \\"pods\/exec\\"/s,
    ],
    [
      execPath(ls),
      {},
      /400.*a container name must be specified for pod web, choose one of: \[app side\]/s,
    ],
    [execPath(`${ls}&container=no`), {}, /400.*container no is not valid for pod web/s],
    [`${pods}/waiting/exec?${ls}`, {}, /400.*pod waiting does not have a host assigned/s],
    [`${pods}/none/exec?${ls}`, {}, /404.*pods \\"none\\" not found/s],
    [
      execPath('command=ls&container=app'),
      {},
      /400.*you must specify at least 1 of stdin, stdout, stderr/s,
    ],
    [
      execPath(`${ls}&container=app`),
      { headers: { 'sec-websocket-protocol': 'v9.channel.k8s.io' } },
      /400.*not supported: \[v9\.channel\.k8s\.io\]/s,
    ],
    [
      execPath(`${ls}&container=app`),
      { method: 'POST', headers: { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v9' } },
      /403.*unable to negotiate protocol: client supports \[v9\]/s,
    ],
    [`${pods}/web/portforward`, {}, /400.*query parameter "port" is required/s],
  ];
  for (const [path, options, words] of cases) {
    const { head, socket } = await upgrade(harness, path, options);
    assert.match(head + (await text(socket)), words);
  }
  const plain = await api.send({ method: 'POST', path: execPath(`${ls}&container=app`) });
  assert.deepEqual([plain.status, plain.body.message], [400, 'Upgrade request required']);
});

test('connections of one user are counted, shown and limited', limit, async (t) => {
  let dials = 0;
  const harness = await startNodeHarness(t, {
    access: {
      limits: { ...defaultLimits, maxTunnelsPerUser: 1 },
      dialNode: (_host, port) => {
        dials += 1;
        return dialLoopback(_host, port);
      },
    },
  });
  const { api } = harness;
  await startPod(harness, 'web', app(['sleep', '1000']));
  const path = execPath('command=sleep&command=1000&stdout=1');
  const first = await upgrade(harness, path);
  assert.match(first.head, / 101 /);
  assert.equal(dials, 1);
  const metrics = (await api.send<string>({ method: 'GET', path: '/metrics' })).body;
  assert.match(metrics, /apiserver_longrunning_requests\{[^}]*subresource="exec"[^}]*\} 1/);
  const second = await upgrade(harness, path);
  assert.match(second.head + (await text(second.socket)), /429.*1 connections to nodes open/s);
  first.socket.destroy();
  for (;;) {
    const again = await upgrade(harness, path);
    again.socket.destroy();
    if (again.head.includes(' 101 ')) break;
  }
});

test('the start and the end of a connection are audited', limit, async (t) => {
  type Line = { stage: string; requestURI: string; responseStatus?: { code: number } };
  const lines: string[] = [];
  let onAudited: () => void = () => {};
  const policy = 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]';
  const write = (text: string): void => {
    const { stage, requestURI, responseStatus } = JSON.parse(text) as Line;
    if (!requestURI.includes('/exec?')) return;
    lines.push(`${stage} ${responseStatus?.code ?? ''}`.trim());
    onAudited();
  };
  const log = { write, close: () => Promise.resolve() };
  const harness = await startNodeHarness(t, {
    access: { audit: { policy: parseAuditPolicy(policy, 'policy'), log } },
  });
  await startPod(harness, 'web', app(['sleep', '1000']));
  const { socket } = await upgrade(harness, execPath('command=sleep&command=1000&stdout=1'));
  assert.deepEqual(lines, ['RequestReceived', 'ResponseStarted 101']);
  const ended = new Promise<void>((resolve) => {
    onAudited = resolve;
  });
  socket.destroy();
  await ended;
  assert.equal(lines.at(-1), 'ResponseComplete 101');
});

test('a token may be a WebSocket subprotocol, and is not forwarded', limit, async (t) => {
  const harness = await startNodeHarness(t);
  await startPod(harness, 'web', app(['sleep', '1000']));
  const path = execPath('command=echo&command=hi&stdout=1');
  const bad = await upgrade(harness, path, {
    isAdmin: false,
    headers: {
      'sec-websocket-protocol': `v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.${Buffer.from('wrong').toString('base64url')}`,
    },
  });
  assert.match(bad.head, / 401 /);
  bad.socket.destroy();
  await harness.api.post('/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'robot' },
  });
  const made = await harness.api.post<{ status: { token: string } }>(
    '/api/v1/namespaces/default/serviceaccounts/robot/token',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  );
  const token = Buffer.from(made.status.token).toString('base64url');
  const good = await upgrade(harness, path, {
    isAdmin: false,
    headers: {
      'sec-websocket-protocol': `v4.channel.k8s.io, base64url.bearer.authorization.k8s.io.${token}`,
    },
  });
  const answer = good.head + (await text(good.socket));
  assert.match(answer, /403.*User \\"system:serviceaccount:default:robot\\" cannot get/s);
});

test('nodes/proxy leads to the agent for authorized clients', limit, async (t) => {
  const harness = await startNodeHarness(t);
  const { api } = harness;
  const path = '/api/v1/nodes/node-1/proxy/healthz';
  const healthy = await api.send<string>({ method: 'GET', path });
  assert.deepEqual([healthy.status, healthy.body], [200, 'ok']);
  const headers = { 'impersonate-user': 'eve' };
  assert.equal((await api.send({ method: 'GET', path, headers })).status, 403);
});

test('the agent refuses unauthenticated clients', limit, async (t) => {
  const harness = await startNodeHarness(t);
  const socket = connect({
    socket: connectTcp({ host: '127.0.0.1', port: harness.node.server?.port ?? 0 }),
    rejectUnauthorized: false,
  });
  socket.write(
    'POST /exec/default/web/app?output=1&command=ls HTTP/1.1\r\nhost: a\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\n\r\n',
  );
  assert.match(await text(socket), /^HTTP\/1\.1 401 /);
});
