// Privilege escalation (authorization-attempts.ts): each attempt is one request to a real server, over a connection with
// the client certificate of its user. All get the status code of upstream and change nothing.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { issueClientCertificate } from '../../src/apiserver/certificates/authority.ts';
import { type ApiClient, type ObjectList, openApiClient } from '../parts/harness/api-client.ts';
import {
  type MemoryServer,
  startMemoryServer,
  testCredentials,
} from '../parts/harness/memory-server.ts';
import {
  certificateRequest,
  home,
  named,
  type Rule,
  rbac,
  rbacGroup,
  requests,
  subject,
  userAttempts,
  users,
} from './authorization-attempts.ts';
import { nodeAttempts } from './node-attempts.ts';

let running: MemoryServer;
const clients = new Map<string, ApiClient>();

async function signIn(user: string): Promise<void> {
  const { authority } = testCredentials();
  const { certificate: cert, privateKey: key } = issueClientCertificate(authority, {
    ...{ commonName: user, organizations: user.startsWith('system:node:') ? ['system:nodes'] : [] },
    ...{ days: 1, now: Date.now() },
  });
  const { port } = running.server.address;
  clients.set(user, await openApiClient({ port, ca: authority.certificate, cert, key }));
}

async function giveRights(user: string, rules: readonly Rule[]): Promise<void> {
  await running.api.post(`${rbac}/clusterroles`, { metadata: { name: user }, rules });
  await running.api.post(`${rbac}/clusterrolebindings`, {
    metadata: { name: user },
    subjects: [subject(user)],
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: user },
  });
}

async function makeObjects(): Promise<void> {
  const { api } = running;
  await api.post('/api/v1/namespaces', named('home'));
  for (const name of ['n1', 'n2']) await api.post('/api/v1/nodes', named(name));
  for (const index of [1, 2, 3]) {
    await api.post(`${home}/secrets`, named(`s${index}`, { data: { k: 'eA==' } }));
    await api.post(`${home}/serviceaccounts`, named(`of-p${index}`));
    await api.post(`${home}/pods`, {
      metadata: { name: `p${index}` },
      spec: {
        ...(index < 3 && { nodeName: `n${index}` }),
        serviceAccountName: `of-p${index}`,
        containers: [{ name: 'c', image: 'i' }],
        volumes: [{ name: 's', secret: { secretName: `s${index}` } }],
      },
    });
  }
  await api.post(requests, certificateRequest('pending', 'jane', []));
}

/** All that the attempts are after. */
async function everything(): Promise<readonly unknown[]> {
  const kinds = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'];
  const core = ['pods', 'secrets', 'serviceaccounts', 'configmaps', 'nodes'];
  const leases = '/apis/coordination.k8s.io/v1/leases';
  const paths = [...kinds.map((kind) => `${rbac}/${kind}`), ...core.map((one) => `/api/v1/${one}`)];
  const lists = await Promise.all(
    [...paths, requests, leases].map((path) => running.api.get<ObjectList>(path)),
  );
  return lists.flatMap(({ items }) => items);
}

let atFirst: readonly unknown[] = [];

describe('users with few rights', { timeout: 120_000 }, () => {
  before(async () => {
    running = await startMemoryServer();
    await makeObjects();
    for (const [user, rules] of Object.entries(users)) {
      if (rules.length > 0) await giveRights(user, rules);
      await signIn(user);
    }
    atFirst = await everything();
  });

  after(async () => {
    for (const client of clients.values()) client.close();
    await running.stop();
  });

  test('the node can read objects that its own pods use, so that refusals are meaningful', async () => {
    const answer = await clients
      .get('system:node:n1')
      ?.send({ method: 'GET', path: `${home}/secrets/s1` });
    assert.equal(answer?.status, 200);
  });

  for (const { user, what, method, path, code, body, type, headers } of [
    ...nodeAttempts,
    ...userAttempts,
  ]) {
    test(`${user} ${what}: ${code}`, async () => {
      const answer = await clients.get(user)?.send({
        ...{ method, path },
        headers: { ...(type && { 'content-type': type }), ...headers },
        ...(body && { body }),
      });
      assert.equal(answer?.status, code, JSON.stringify(answer?.body));
    });
  }

  test('nothing has changed', async () => {
    assert.deepEqual(await everything(), atFirst);
  });
});
