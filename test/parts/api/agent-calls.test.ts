// The server calls agents at addresses that nodes choose: it must not be led to itself, to this machine or to what is on its link,
// and it speaks only to the very node, as a user whose only right is to call agents.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import {
  issueNodeServingCertificate,
  issueServerCertificate,
  makeAuthority,
} from '../../../src/apiserver/certificates/authority.ts';
import type { KeyPair } from '../../../src/apiserver/certificates/x509.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import {
  type MemoryServer,
  type MemoryServerOptions,
  startMemoryServer,
  testCredentials,
} from '../harness/memory-server.ts';

const limit = { timeout: 60_000 };

async function start(t: TestContext, options: MemoryServerOptions = {}): Promise<MemoryServer> {
  const running = await startMemoryServer(options);
  t.after(running.stop);
  return running;
}

/** A node that says it is there, with a pod bound to it. */
async function makeNode({ api }: MemoryServer, name: string, addresses: object[], port: number) {
  await api.post('/api/v1/nodes', {
    metadata: { name },
    status: { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } },
  });
  const pods = '/api/v1/namespaces/default/pods';
  await api.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  await api.post(pods, {
    metadata: { name: `on-${name}` },
    spec: { nodeName: name, containers: [{ name: 'c', image: 'i' }] },
  });
}

const statusOf = async ({ api }: MemoryServer, path: string): Promise<readonly unknown[]> => {
  const { status, body } = await api.send<Status>({ method: 'GET', path });
  return [status, body.message];
};

const locations: readonly (readonly [
  string,
  (own: number) => readonly [string, string, number],
])[] = [
  ['loopback and the port of the server', (own) => ['InternalIP', '127.0.0.1', own]],
  ['loopback by name', (own) => ['Hostname', 'localhost', own]],
  ['loopback in IPv6 clothes', (own) => ['InternalIP', '::ffff:127.0.0.1', own]],
  ['the server, as others reach it', (own) => ['InternalIP', '192.0.2.1', own]],
  ['the Service of the server', () => ['InternalIP', '10.96.0.1', 443]],
  ['the metadata of a cloud', () => ['InternalIP', '169.254.169.254', 80]],
  ['the link', () => ['InternalIP', 'fe80::1', 10250]],
];
for (const [name, location] of locations) {
  test(`a node that says it is at ${name} is not called`, limit, async (t) => {
    // Nothing leaves this machine, whatever the server thinks.
    const dialNode = (host: string, to: number) => assert.fail(`called ${host} ${to}`);
    const running = await start(t, { access: { dialNode } });
    const [type, address, port] = location(running.server.address.port);
    await makeNode(running, 'liar', [{ type, address }], port);
    const refused = [400, 'address not allowed'];
    const proxied = '/api/v1/nodes/liar/proxy/api/v1/namespaces/kube-system/secrets';
    assert.deepEqual(await statusOf(running, proxied), refused);
    assert.deepEqual(
      await statusOf(running, '/api/v1/namespaces/default/pods/on-liar/log'),
      refused,
    );
    const named = `/api/v1/nodes/liar:${port}/proxy/`;
    assert.deepEqual(await statusOf(running, named), refused);
  });
}

const podLocations: readonly (readonly [string, string, (own: number) => number])[] = [
  ['loopback', '127.0.0.1', (own) => own],
  ['the metadata of a cloud', '169.254.169.254', () => 80],
  ['the link', 'fe80::1', () => 80],
  ['the server', '192.0.2.1', (own) => own],
  ['the Service of the server', '10.96.0.1', () => 443],
  ['the range of Services', 'fd00:96::1', () => 443],
];
for (const [name, ip, portOf] of podLocations) {
  test(`a pod that is said to be at ${name} is not called`, limit, async (t) => {
    // The status of a pod is written by its node.
    const dial = (host: string, to: number) => assert.fail(`called ${host} ${to}`);
    const running = await start(t, { access: { dial } });
    const { api, server } = running;
    const port = portOf(server.address.port);
    await makeNode(running, 'liar', [], 10250);
    const namespace = '/api/v1/namespaces/default';
    await api.patch(`${namespace}/pods/on-liar/status`, { status: { podIPs: [{ ip }] } });
    await api.post(`${namespace}/services`, {
      metadata: { name: 'web' },
      spec: { ports: [{ port }] },
    });
    const targetRef = { kind: 'Pod', name: 'on-liar', namespace: 'default' };
    const made = await api.send<Status>({
      method: 'POST',
      path: `${namespace}/endpoints`,
      body: {
        metadata: { name: 'web' },
        subsets: [{ addresses: [{ ip, targetRef }], ports: [{ port }] }],
      },
    });
    const direct = `${namespace}/pods/https:on-liar:${port}/proxy/version`;
    assert.deepEqual(await statusOf(running, direct), [400, 'address not allowed']);
    // Loopback and the link are no addresses of Endpoints to begin with.
    const [code] = await statusOf(running, `${namespace}/services/https:web:/proxy/version`);
    assert.equal(code, made.status === 201 ? 400 : 404);
  });
}

/** Something that listens where the agent of the node should be. Resolves to who called it. */
async function serveAs(t: TestContext, { certificate: cert, privateKey: key }: KeyPair) {
  const callers: unknown[] = [];
  const ca = testCredentials().authority.certificate;
  const server = createServer(
    { key, cert, ca, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      callers.push({ ...(request.socket as TLSSocket).getPeerCertificate().subject });
      response.end('hello');
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return { callers, port: (server.address() as AddressInfo).port };
}

const names = ['good', '192.0.2.10'];
const now = Date.now();
const impostors: readonly (readonly [string, () => KeyPair, RegExp])[] = [
  [
    'no CA signed',
    () => issueNodeServingCertificate(makeAuthority(now), { node: 'good', names, now }),
    /unable to verify|self-signed/,
  ],
  [
    'is of another node',
    () => issueNodeServingCertificate(testCredentials().authority, { node: 'other', names, now }),
    /not the one of node "good"/,
  ],
  [
    'is of an API server',
    () => issueServerCertificate(testCredentials().authority, { names, now }),
    /not the one of node "good"/,
  ],
];
const dial = (port: number) => () => connect({ host: '127.0.0.1', port });

for (const [name, make, why] of impostors) {
  test(`an agent whose certificate ${name} gets no request`, limit, async (t) => {
    const { callers, port } = await serveAs(t, make());
    const running = await start(t, { access: { dialNode: dial(port) } });
    await makeNode(running, 'good', [{ type: 'InternalIP', address: '192.0.2.10' }], 10250);
    const [status, message] = await statusOf(running, '/api/v1/nodes/good/proxy/healthz');
    assert.equal(status, 503);
    assert.match(String(message), why);
    const log = await statusOf(running, '/api/v1/namespaces/default/pods/on-good/log');
    assert.equal(log[0], 500);
    assert.deepEqual(callers, []);
  });
}

test(
  'the agent of a node sees a caller who may speak to agents, and nothing else',
  limit,
  async (t) => {
    const { authority } = testCredentials();
    const serving = issueNodeServingCertificate(authority, { node: 'good', names: ['good'], now });
    const { callers, port } = await serveAs(t, serving);
    const running = await start(t, { access: { dialNode: dial(port) } });
    await makeNode(running, 'good', [{ type: 'InternalIP', address: '192.0.2.10' }], 10250);
    const { status } = await running.api.send({
      method: 'GET',
      path: '/api/v1/nodes/good/proxy/healthz',
    });
    assert.equal(status, 200);
    assert.deepEqual(callers, [{ CN: 'kube-apiserver-kubelet-client' }]);
    const may = async (attributes: object): Promise<boolean> =>
      (
        (await running.api.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
          spec: { user: 'kube-apiserver-kubelet-client', resourceAttributes: attributes },
        })) as { status: { allowed: boolean } }
      ).status.allowed;
    assert.deepEqual(
      [
        await may({ verb: 'get', resource: 'nodes', subresource: 'proxy' }),
        await may({ verb: 'create', resource: 'nodes', subresource: 'proxy' }),
        await may({ verb: 'list', resource: 'secrets' }),
        await may({ verb: 'create', resource: 'pods' }),
      ],
      [true, true, false, false],
    );
  },
);
