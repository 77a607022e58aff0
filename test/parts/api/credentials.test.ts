// Ways in: the token file, new certificates while the server runs, and the commands that make credentials.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import { issueServerCertificate } from '../../../src/apiserver/certificates/authority.ts';
import { ensureCertificates } from '../../../src/apiserver/certificates/ensure-certificates.ts';
import { renderKubeconfig } from '../../../src/apiserver/certificates/kubeconfig-file.ts';
import { run } from '../../../src/cli/main.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { type ApiClient, openApiClient } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer, testCredentials } from '../harness/memory-server.ts';

const timeout = 30_000;
let directory: string;
let tokenFile: string;
let now = Date.now();
let running: MemoryServer;
let anonymous: ApiClient;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'fairlead-credentials-'));
  tokenFile = join(directory, 'tokens.csv');
  await writeFile(tokenFile, 'first,alice,7,"dev,ops"\n');
  const admissionPlugins = { enable: ['DenyServiceExternalIPs', 'ServiceAccount'] };
  running = await startMemoryServer({
    clock: { now: () => now },
    access: { tokens: { file: tokenFile }, admissionPlugins },
  });
  const { port } = running.server.address;
  const { authority, administrator } = testCredentials();
  anonymous = await openApiClient({ port, ca: authority.certificate });
  const server = `https://localhost:${port}`;
  const own = { server, authority: authority.certificate, client: administrator };
  await writeFile(join(directory, 'admin'), renderKubeconfig(own));
});
after(async () => {
  anonymous.close();
  await running.stop();
  await rm(directory, { recursive: true });
});

type Review = {
  readonly status: { readonly userInfo: { readonly username: string; readonly groups: string[] } };
};

async function whoIs(token: string): Promise<Review['status']['userInfo'] | number> {
  const { status, body } = await anonymous.send<Review>({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    headers: { authorization: `Bearer ${token}` },
    body: {},
  });
  return status === 201 ? body.status.userInfo : status;
}

test('tokens of the file are good until they leave it', { timeout }, async () => {
  assert.deepEqual(await whoIs('first'), {
    username: 'alice',
    uid: '7',
    groups: ['dev', 'ops', 'system:authenticated'],
  });
  assert.equal(await whoIs('second'), 401);
  await writeFile(tokenFile, 'second,bob,8\n');
  now += 1000;
  assert.equal(await whoIs('first'), 401);
  assert.notEqual(await whoIs('second'), 401);
});

/** The serial number of the certificate that a new connection sees. */
function serialNumber(): Promise<string> {
  const { port } = running.server.address;
  const ca = testCredentials().authority.certificate;
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost' }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.end();
    });
    socket.on('error', reject);
  });
}

test('a new certificate is seen by new connections, and old ones go on', { timeout }, async () => {
  const credentials = testCredentials();
  const names = ['localhost', '127.0.0.1'];
  const renewed = issueServerCertificate(credentials.authority, { names, now: Date.now() });
  const serial = await serialNumber();
  running.server.useCertificates({ ...credentials, server: renewed });
  assert.notEqual(await serialNumber(), serial);
  assert.equal((await running.api.send({ method: 'GET', path: '/version' })).status, 200);
  running.server.useCertificates(credentials);
  assert.equal(await serialNumber(), serial);
});

type Screen = { readonly code: number; readonly out: string; readonly err: string };

async function fairlead(line: string): Promise<Screen> {
  let out = '';
  let err = '';
  const code = await run(line.split(' '), {
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      err += text;
    },
    env: {},
    cwd: () => directory,
    now: () => Date.now(),
    startedAt: 0,
    interrupted: new AbortController().signal,
  });
  return { code, out, err };
}

const core = '/api/v1/namespaces/default';

test('token create asks for a token of a service account', { timeout }, async () => {
  await running.api.post(`${core}/serviceaccounts`, { metadata: { name: 'robot' } });
  const made = await fairlead('token create robot --duration 10m --kubeconfig admin');
  assert.deepEqual([made.code, made.err], [0, '']);
  const user = await whoIs(made.out.trim());
  assert.equal(typeof user === 'object' && user.username, 'system:serviceaccount:default:robot');
  const vault = await fairlead('token create robot --audience vault --kubeconfig admin');
  assert.equal(await whoIs(vault.out.trim()), 401);
  const refused = await fairlead('token create robot --duration 9m --kubeconfig admin');
  assert.equal(refused.code, 1);
  assert.match(refused.err, /may not specify a duration less than 10 minutes/);
});

test('token create adds a user to the token file of the server', { timeout }, async () => {
  const line = await fairlead('token create --user carol --group a --group b');
  assert.match(line.out, /^[\w-]{43},carol,,"a,b"\n$/);
  const made = await fairlead('token create --user dave --group x --token-auth-file tokens.csv');
  assert.equal(made.code, 0);
  assert.equal((await stat(tokenFile)).mode & 0o777, 0o600);
  now += 1000;
  assert.deepEqual(await whoIs(made.out.trim()), {
    username: 'dave',
    groups: ['x', 'system:authenticated'],
  });
  assert.notEqual(await whoIs('second'), 401);
  for (const wrong of ['token create robot --user u']) {
    assert.equal((await fairlead(wrong)).code, 2);
  }
});

test('kubeconfig makes a certificate from the authority alone', { timeout }, async () => {
  await ensureCertificates({ directory: join(directory, 'data', 'pki'), serverNames: [], now });
  const made = await fairlead(
    'kubeconfig --user erin --group dev --server https://s:1 --data-dir data -n team -o erin',
  );
  assert.deepEqual([made.code, made.out, made.err], [0, '', '']);
  const path = join(directory, 'erin');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const text = await readFile(path, 'utf8');
  assert.match(text, /server: https:\/\/s:1\n/);
  assert.match(text, /namespace: team\n/);
  assert.match(text, /client-certificate-data: /);
  const missing = await fairlead('kubeconfig --user erin --data-dir nowhere');
  assert.equal(missing.code, 2);
  assert.match(missing.err, /has no ca\.crt and ca\.key/);
  assert.equal((await fairlead('kubeconfig --user a --token b')).code, 2);
});

test('kubeconfig makes one for a service account that works', { timeout }, async () => {
  await running.api.post(`${core}/serviceaccounts`, { metadata: { name: 'reader' } });
  const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings';
  await running.api.post(path, {
    metadata: { name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'default' }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  });
  await fairlead('kubeconfig --service-account reader -n default --kubeconfig admin -o reader');
  const services = await fairlead('get services --kubeconfig reader');
  assert.match(services.out, /kubernetes/);
  const secrets = await fairlead('get secrets --kubeconfig reader');
  assert.match(secrets.err, /User "system:serviceaccount:default:reader" cannot list/);
});

test('admission denies external IPs when that is asked for', { timeout }, async () => {
  const spec = { ports: [{ port: 80 }], externalIPs: ['192.0.2.9'] };
  const body = { metadata: { name: 'web' }, spec };
  const path = `${core}/services`;
  const refused = await running.api.send({ method: 'POST', path, body });
  assert.equal(refused.status, 403);
  assert.equal(
    refused.body.message,
    'services "web" is forbidden: Use of external IPs is denied by admission control.',
  );
  await running.api.post(path, { ...body, spec: { ports: spec.ports } });
  const { externalIPs } = spec;
  const headers = { 'content-type': 'application/merge-patch+json' };
  const patch = { method: 'PATCH', path: `${path}/web`, headers, body: { spec: { externalIPs } } };
  assert.equal((await running.api.send(patch)).status, 403);
});

type Pod = KubeObject & {
  readonly spec: {
    readonly serviceAccountName?: string;
    readonly volumes?: readonly { readonly name: string }[];
  };
};

test('admission gives pods their service account when that is asked for', { timeout }, async () => {
  const body = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const path = `${core}/pods`;
  const early = await running.api.send({ method: 'POST', path, body });
  assert.equal(
    early.body.message,
    'pods "p" is forbidden: error looking up service account default/default: serviceaccount "default" not found',
  );
  await running.api.post(`${core}/serviceaccounts`, { metadata: { name: 'default' } });
  const { spec } = await running.api.post<Pod>(path, body);
  assert.equal(spec.serviceAccountName, 'default');
  assert.match(spec.volumes?.[0]?.name ?? '', /^kube-api-access-[a-z0-9]{5}$/);
});
