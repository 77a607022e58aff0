// A node that has joined and wants more: what it says of itself, and the certificates it asks for, over a real connection.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { issueClientCertificate } from '../../../src/apiserver/certificates/authority.ts';
import { makeCertificateRequest } from '../../../src/apiserver/certificates/x509.ts';
import type { CertificateSigningRequest } from '../../../src/kinds/certificate-signing-request/types.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import { type ApiClient, openApiClient } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer, testCredentials } from '../harness/memory-server.ts';

let running: MemoryServer;
let node: ApiClient;
before(async () => {
  running = await startMemoryServer();
  const { authority } = testCredentials();
  const { certificate: cert, privateKey: key } = issueClientCertificate(authority, {
    ...{ commonName: 'system:node:greedy', organizations: ['system:nodes'] },
    ...{ days: 1, now: Date.now() },
  });
  const { port } = running.server.address;
  node = await openApiClient({ port, ca: authority.certificate, cert, key });
  await running.api.post('/api/v1/nodes', {
    metadata: { name: 'neighbour' },
    status: { addresses: [{ type: 'InternalIP', address: '192.0.2.99' }] },
  });
  await running.api.patch('/api/v1/nodes/neighbour', { spec: { podCIDR: '10.244.9.0/24' } });
  await node.post('/api/v1/nodes', { metadata: { name: 'greedy' } });
});
after(async () => {
  node.close();
  await running.stop();
});

const own = '/api/v1/nodes/greedy';

/** Patches its own status; the code and message of the answer. */
async function say(status: object): Promise<readonly [number, string]> {
  const answer = await node.send<Status>({
    method: 'PATCH',
    path: `${own}/status`,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { status },
  });
  return [answer.status, answer.body.message ?? ''];
}

const claims: readonly (readonly [string, string, RegExp | undefined, string?])[] = [
  ['an address of its own', '192.0.2.50', undefined],
  ['loopback', '127.0.0.2', /not one at which others reach a node/],
  ['the link', '169.254.169.254', /not one at which others reach a node/],
  ['the address of the Service of the server', '10.96.0.1', /in a range of Services/],
  ['the same in IPv6 clothes', '::ffff:a60:1', /in a range of Services/],
  ['the same with zeros', '010.096.000.001', /in a range of Services/],
  ['the address of another node', '192.0.2.99', /of another node/],
];
for (const [name, address, why] of claims) {
  test(`a node may ${why === undefined ? '' : 'not '}say that it has ${name}`, async () => {
    const [code, message] = await say({ addresses: [{ type: 'InternalIP', address }] });
    assert.equal(code, why === undefined ? 200 : 403, message);
    assert.match(message, why ?? /^$/);
  });
}

test('a node takes no pod ranges and no ports of an API server', async () => {
  const ranges = await node.send<Status>({
    method: 'PATCH',
    path: own,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { spec: { podCIDR: '10.244.9.0/24', podCIDRs: ['10.244.9.0/24'] } },
  });
  assert.equal(ranges.status, 403);
  assert.match(ranges.body.message ?? '', /node "greedy" is not allowed to modify podCIDRs/);
  // This connection comes from loopback, where the server is: the address may be both's, the port may not.
  const beside = [{ type: 'InternalIP', address: '192.0.2.1' }];
  const port = (Port: number) => ({ daemonEndpoints: { kubeletEndpoint: { Port } } });
  assert.deepEqual(await say({ addresses: beside, ...port(10250) }), [200, '']);
  const [code, message] = await say({
    addresses: beside,
    ...port(running.server.address.port),
  });
  assert.equal(code, 403);
  assert.match(message, /an API server listens there/);
});

const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

async function ask(names: readonly string[], commonName = 'system:node:greedy') {
  const { request } = makeCertificateRequest({
    subject: { commonName, organizations: ['system:nodes'] },
    names,
  });
  return await node.send<CertificateSigningRequest & Status>({
    method: 'POST',
    path: collection,
    headers: { 'content-type': 'application/json' },
    body: {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { generateName: 'asked-' },
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName: 'kubernetes.io/kubelet-serving',
        usages: ['digital signature', 'server auth'],
      },
    },
  });
}

test('serving certificates are approved for nothing but the name', async () => {
  // An administrator may write anything; the certificates must not follow.
  const hosts = [
    ...['KUBERNETES.default.svc', 'kubernetes.default.svc.', '*.default.svc', 'api.example'],
    ...['127.0.0.1', '192.0.2.1', '192.0.2.50', '192.0.2.99', '10.96.0.1', '::ffff:a60:1'],
    ...['10.244.9.7', 'localhost', 'neighbour', '*'],
  ];
  const addresses = hosts.map((address) => ({ type: 'InternalIP', address }));
  await running.api.patch(`${own}/status`, { status: { addresses } });
  const waiting: string[] = [];
  for (const host of hosts) {
    const { status, body } = await ask(['greedy', host]);
    assert.equal(status, 201, body.message);
    waiting.push(body.metadata.name ?? '');
  }
  // Requests are looked at in order: when this one has its certificate, the others have been judged.
  const last = (await ask(['greedy'])).body.metadata.name ?? '';
  const read = (name: string) =>
    running.api.get<CertificateSigningRequest>(`${collection}/${name}`);
  while ((await read(last)).status.certificate === undefined) await new Promise(setImmediate);
  for (const [index, name] of waiting.entries()) {
    assert.deepEqual((await read(name)).status, {}, hosts[index]);
  }
});

test('a node asks for no certificate of another', async () => {
  const { status, body } = await ask(['neighbour'], 'system:node:neighbour');
  assert.equal(status, 403);
  assert.match(body.message ?? '', /can only create a node CSR with CN=system:node:greedy$/);
});
