// Creating takes the right to create, also where a PUT or an apply does it, and passes the same checks: admission, escalation of rights.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { issueClientCertificate } from '../../../src/apiserver/certificates/authority.ts';
import { makeCertificateRequest } from '../../../src/apiserver/certificates/x509.ts';
import { allKinds } from '../../../src/kinds/all.ts';
import { type AnyKind, allVerbs } from '../../../src/kinds/definition.ts';
import { type ApiClient, openApiClient } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer, testCredentials } from '../harness/memory-server.ts';

const timeout = 120_000;
const rbacGroup = 'rbac.authorization.k8s.io';
const rbac = `/apis/${rbacGroup}/v1`;
const applyPatch = { 'content-type': 'application/apply-patch+yaml' };

let running: MemoryServer;
const clients = new Map<string, ApiClient>();

async function signIn(
  commonName: string,
  organizations: readonly string[] = [],
): Promise<ApiClient> {
  const { authority } = testCredentials();
  const request = { commonName, organizations, days: 1, now: Date.now() };
  const { certificate: cert, privateKey: key } = issueClientCertificate(authority, request);
  const { port } = running.server.address;
  const client = await openApiClient({ port, ca: authority.certificate, cert, key });
  clients.set(commonName, client);
  return client;
}

async function allow(user: string, verbs: readonly string[]): Promise<void> {
  const { api } = running;
  const rules = [{ verbs, apiGroups: ['*'], resources: ['*'] }];
  await api.post(`${rbac}/clusterroles`, { metadata: { name: user }, rules });
  await api.post(`${rbac}/clusterrolebindings`, {
    metadata: { name: user },
    subjects: [{ kind: 'User', apiGroup: rbacGroup, name: user }],
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: user },
  });
}

const pathOf = ({ group, version, plural, namespaced }: AnyKind, name: string): string =>
  `${group === '' ? '/api' : `/apis/${group}`}/${version}/${namespaced ? 'namespaces/default/' : ''}${plural}/${name}`;

const bodyOf = ({ group, version, kind }: AnyKind, name: string): object => ({
  apiVersion: group === '' ? version : `${group}/${version}`,
  kind,
  metadata: { name },
});

function refusalFor({ group, plural, namespaced }: AnyKind, user: string, name: string): string {
  const resource = group === '' ? plural : `${plural}.${group}`;
  const where = namespaced ? 'in the namespace "default"' : 'at the cluster scope';
  return `${resource} "${name}" is forbidden: User "${user}" cannot create resource "${plural}" in API group "${group}" ${where}`;
}

const can = ({ verbs = allVerbs }: AnyKind, verb: string): boolean =>
  (verbs as readonly string[]).includes(verb);

describe('creating by update', { timeout }, () => {
  before(async () => {
    running = await startMemoryServer({
      access: { admissionPlugins: { enable: ['DenyServiceExternalIPs'] } },
    });
    await allow('changer', ['get', 'update', 'patch']);
    await allow('maker', ['get', 'update', 'patch', 'create']);
    for (const user of ['changer', 'maker']) await signIn(user);
    await signIn('system:node:n1', ['system:nodes']);
  });
  after(async () => {
    for (const client of clients.values()) client.close();
    await running.stop();
  });
  testEveryKind();
  testChecks();
  testExternalIPs();
  testRequests();
});

const clientOf = (user: string): ApiClient => clients.get(user) as ApiClient;

function testEveryKind(): void {
  const puts = allKinds.filter((kind) => kind.createsOnUpdate === true);
  assert.ok(puts.length > 5);
  for (const kind of puts) {
    test(`PUT of a new ${kind.plural}.${kind.group} takes the right to create`, async () => {
      // Of their own: events have two groups and one storage.
      const name = `new${kind.group === '' ? '' : `.${kind.group}`}`;
      const path = pathOf(kind, name);
      const call = { method: 'PUT', path, body: bodyOf(kind, name) };
      const { status, body } = await clientOf('changer').send(call);
      assert.deepEqual([status, body.message], [403, refusalFor(kind, 'changer', name)]);
      assert.equal((await running.api.send({ method: 'GET', path })).status, 404);
      // With the right it is for validation to say what is missing.
      const made = await clientOf('maker').send(call);
      assert.ok([201, 400, 422].includes(made.status), `${made.status} ${made.body.message}`);
    });
  }
  for (const kind of allKinds.filter((one) => can(one, 'patch') && can(one, 'create'))) {
    test(`apply of a new ${kind.plural}.${kind.group} takes the right to create`, async () => {
      const path = pathOf(kind, 'applied');
      const body = JSON.stringify(bodyOf(kind, 'applied'));
      const call = {
        method: 'PATCH',
        path: `${path}?fieldManager=t&force=true`,
        headers: applyPatch,
        body,
      };
      const { status, body: answer } = await clientOf('changer').send(call);
      assert.deepEqual([status, answer.message], [403, refusalFor(kind, 'changer', 'applied')]);
      assert.equal((await running.api.send({ method: 'GET', path })).status, 404);
    });
  }
}

const attempts = (path: string, body: object) => [
  { method: 'PUT', path, body },
  {
    method: 'PATCH',
    path: `${path}?fieldManager=t`,
    headers: applyPatch,
    body: JSON.stringify(body),
  },
];

function testChecks(): void {
  test('a role that is created by update grants no user more than its own rights', async () => {
    const path = `${rbac}/clusterroles/above`;
    const rules = [{ verbs: ['delete'], apiGroups: [''], resources: ['secrets'] }];
    const body = {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'above' },
      rules,
    };
    for (const call of attempts(path, body)) {
      const { status, body: answer } = await clientOf('maker').send(call);
      assert.equal(status, 403, call.method);
      assert.match(
        answer.message ?? '',
        /is attempting to grant RBAC permissions not currently held/,
      );
    }
  });

  test('a binding that is created by update grants no user more than its own rights', async () => {
    const path = `${rbac}/clusterrolebindings/above`;
    const roleRef = { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'cluster-admin' };
    const subjects = [{ kind: 'User', apiGroup: rbacGroup, name: 'maker' }];
    const body = {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'above' },
      roleRef,
      subjects,
    };
    for (const call of attempts(path, body)) {
      assert.equal((await clientOf('maker').send(call)).status, 403, call.method);
    }
  });
}

function testExternalIPs(): void {
  test('external IPs are denied on every way to write them', async () => {
    const collection = '/api/v1/namespaces/default/services';
    const service = (name: string, spec: object) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { ports: [{ port: 80 }], ...spec },
    });
    const open = { externalIPs: ['192.0.2.7'] };
    await running.api.post(collection, service('old', {}));
    const patches = (name: string) => [
      {
        method: 'PATCH',
        path: `${collection}/${name}`,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { spec: open },
      },
      {
        method: 'PATCH',
        path: `${collection}/${name}`,
        headers: { 'content-type': 'application/strategic-merge-patch+json' },
        body: { spec: open },
      },
      {
        method: 'PATCH',
        path: `${collection}/${name}`,
        headers: { 'content-type': 'application/json-patch+json' },
        body: [{ op: 'add', path: '/spec/externalIPs', value: open.externalIPs }],
      },
      {
        method: 'PATCH',
        path: `${collection}/${name}/status`,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { spec: open },
      },
    ];
    const calls = [
      ...attempts(`${collection}/new`, service('new', open)),
      ...attempts(`${collection}/old`, service('old', open)),
      ...patches('old'),
      { method: 'POST', path: collection, body: service('posted', open) },
    ];
    for (const call of calls) {
      const { status, body } = await running.api.send<{
        spec?: { externalIPs?: unknown };
        message?: string;
      }>(call);
      const line = `${call.method} ${call.path} ${JSON.stringify(body)}`;
      if (call.path.endsWith('/status')) assert.equal(body.spec?.externalIPs, undefined, line);
      else
        assert.deepEqual(
          [status, body.message?.endsWith('Use of external IPs is denied by admission control.')],
          [403, true],
          line,
        );
    }
  });
}

function testRequests(): void {
  const signers = ['kubernetes.io/kube-apiserver-client-kubelet', 'kubernetes.io/kubelet-serving'];
  for (const signerName of signers) {
    test(`a node asks ${signerName} for itself only`, async () => {
      const ask = (node: string, end: string) => {
        const subject = { commonName: `system:node:${node}`, organizations: ['system:nodes'] };
        const { request } = makeCertificateRequest({
          subject,
          names: end === 'server auth' ? [node] : [],
        });
        const spec = {
          signerName,
          request: Buffer.from(request).toString('base64'),
          usages: ['digital signature', end],
        };
        const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
        return clientOf('system:node:n1').send({
          method: 'POST',
          path,
          body: { metadata: { name: `${node}-${end.replace(' ', '-')}` }, spec },
        });
      };
      const end = signerName.endsWith('serving') ? 'server auth' : 'client auth';
      const other = await ask('n2', end);
      assert.deepEqual(
        [other.status, other.body.message?.split(': ').at(-1)],
        [403, 'can only create a node CSR with CN=system:node:n1'],
      );
      assert.equal((await ask('n1', end)).status, 201);
    });
  }
}
