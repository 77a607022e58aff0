// Each user has exactly the rights of its role: every verb of every resource, requested by every user. What is expected
// comes from the definitions of the roles and, for nodes, from the table here; the authorizer has no part in it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bootstrapPolicy } from '../../../src/apiserver/access/bootstrap-policy.ts';
import { issueClientCertificate } from '../../../src/apiserver/certificates/authority.ts';
import type { PolicyRule } from '../../../src/kinds/rbac/types.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import {
  type AccessRequest,
  allAccessRequests,
  describeRequest,
  home,
  other,
} from '../harness/access-requests.ts';
import { type ApiCall, type ApiClient, openApiClient } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer, testCredentials } from '../harness/memory-server.ts';

const timeout = 120_000;
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const rbacGroup = 'rbac.authorization.k8s.io';

let running: MemoryServer;
const clients = new Map<string, ApiClient>();
let robotToken = '';

before(async () => {
  running = await startMemoryServer();
  await makeWorld(running.api);
  const port = running.server.address.port;
  const { authority } = testCredentials();
  const ca = authority.certificate;
  clients.set('anonymous', await openApiClient({ port, ca }));
  const people: Readonly<Record<string, readonly string[]>> = {
    viewer: [],
    editor: [],
    'system:node:n1': ['system:nodes'],
    'system:node:n2': ['system:nodes'],
  };
  for (const [commonName, organizations] of Object.entries(people)) {
    const request = { commonName, organizations, days: 1, now: Date.now() };
    const { certificate: cert, privateKey: key } = issueClientCertificate(authority, request);
    clients.set(commonName, await openApiClient({ port, ca, cert, key }));
  }
});
after(async () => {
  for (const client of clients.values()) client.close();
  await running.stop();
});

const robotRules: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: [''], resources: ['services', 'pods/status'] },
  { verbs: ['get', 'update'], apiGroups: ['coordination.k8s.io'], resources: ['leases'] },
];

/** Two namespaces, a role in each, two nodes with a pod that uses a secret, a config map and an account. */
async function makeWorld(api: ApiClient): Promise<void> {
  for (const name of [home, other]) await api.post('/api/v1/namespaces', { metadata: { name } });
  for (const [user, role] of [
    ['viewer', 'view'],
    ['editor', 'edit'],
  ] as const) {
    await api.post(`${rbac}/namespaces/${home}/rolebindings`, {
      metadata: { name: user },
      subjects: [{ kind: 'User', apiGroup: rbacGroup, name: user }],
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
    });
  }
  await api.post(`/api/v1/namespaces/${other}/serviceaccounts`, { metadata: { name: 'robot' } });
  // It must be there: a PUT of one that is not takes the right to create as well.
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${other}/leases`;
  await api.post(leases, { metadata: { name: 'x' } });
  await api.post(`${rbac}/namespaces/${other}/roles`, {
    metadata: { name: 'robot' },
    rules: robotRules,
  });
  await api.post(`${rbac}/namespaces/${other}/rolebindings`, {
    metadata: { name: 'robot' },
    subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: other }],
    roleRef: { apiGroup: rbacGroup, kind: 'Role', name: 'robot' },
  });
  for (const node of ['n1', 'n2']) await makeNode(api, node);
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  await api.post(`/api/v1/namespaces/${other}/pods`, { metadata: { name: 'x' }, spec });
  const { status } = await api.post<{ status: { token: string } }>(
    `/api/v1/namespaces/${other}/serviceaccounts/robot/token`,
    {},
  );
  robotToken = status.token;
}

async function makeNode(api: ApiClient, node: string): Promise<void> {
  const name = `of-${node}`;
  await api.post('/api/v1/nodes', { metadata: { name: node } });
  // New nodes have a taint, and a node that leaves it out gets an error that it may not change taints.
  await api.patch(`/api/v1/nodes/${node}`, { spec: { taints: null } });
  for (const plural of ['secrets', 'configmaps', 'serviceaccounts']) {
    await api.post(`/api/v1/namespaces/${home}/${plural}`, { metadata: { name } });
  }
  await api.post(`/api/v1/namespaces/${home}/pods`, {
    metadata: { name },
    spec: {
      nodeName: node,
      serviceAccountName: name,
      containers: [{ name: 'c', image: 'i', envFrom: [{ configMapRef: { name } }] }],
      volumes: [{ name: 'v', secret: { secretName: name } }],
    },
  });
}

/** One answer to a request: refused or not. Whatever else is wrong with it is not our matter here. */
async function isForbidden(who: string, call: ApiCall): Promise<boolean> {
  const isRobot = who === robot;
  const client = clients.get(isRobot ? 'anonymous' : who);
  assert.ok(client);
  const headers = isRobot
    ? { ...call.headers, authorization: `Bearer ${robotToken}` }
    : call.headers;
  const { status, body } = await client.send<Status>({ ...call, ...(headers && { headers }) });
  assert.ok(status < 500, `${who}: ${call.method} ${call.path}: ${status} ${JSON.stringify(body)}`);
  assert.ok(status !== 401, `${who}: ${call.method} ${call.path}`);
  return status === 403;
}

const robot = `system:serviceaccount:${other}:robot`;
const { clusterRoles } = bootstrapPolicy();
const rulesOf = (name: string): readonly PolicyRule[] =>
  clusterRoles.find(({ metadata }) => metadata.name === name)?.rules ?? [];

/** The rights of all authenticated users. */
const everybody = ['system:basic-user', 'system:discovery', 'system:public-info-viewer'];

const has = (list: readonly string[] | null | undefined, value: string): boolean =>
  (list ?? []).some((one) => one === '*' || one === value);

/** The rules of a role in the words of its documentation: no names in these, so names do not count. */
function allows(rules: readonly PolicyRule[], { verb, group, resource }: AccessRequest): boolean {
  return rules.some(
    (rule) =>
      has(rule.verbs, verb) &&
      has(rule.apiGroups, group) &&
      has(rule.resources, resource) &&
      rule.resourceNames === undefined,
  );
}

type Expectation = (request: AccessRequest) => boolean;

const byGroup: Expectation = (request) => everybody.some((name) => allows(rulesOf(name), request));
const inside =
  (namespace: string, rules: readonly PolicyRule[]): Expectation =>
  (request) =>
    byGroup(request) || (request.namespace === namespace && allows(rules, request));

/** What a node may do, by resource and verb: anything of this sort, or only what is its own. */
const nodeTable: Readonly<Record<string, Readonly<Record<string, 'any' | 'own'>>>> = {
  services: { get: 'any', list: 'any', watch: 'any' },
  endpoints: { get: 'any' },
  events: { create: 'any', update: 'any', patch: 'any' },
  nodes: { create: 'own', get: 'own', update: 'own', patch: 'own' },
  'nodes/status': { update: 'own', patch: 'own' },
  // It may create mirror pods only, and these are none.
  pods: { get: 'own', delete: 'own' },
  'pods/status': { update: 'own', patch: 'own' },
  'pods/eviction': { create: 'own' },
  secrets: { get: 'own' },
  configmaps: { get: 'own' },
  'leases.coordination.k8s.io': {
    create: 'own',
    get: 'own',
    update: 'own',
    patch: 'own',
    delete: 'own',
  },
  // What its proxy needs under the same name.
  'events.events.k8s.io': { create: 'any', update: 'any', patch: 'any' },
  'endpointslices.discovery.k8s.io': { list: 'any', watch: 'any' },
  'servicecidrs.networking.k8s.io': { list: 'any', watch: 'any' },
  'certificatesigningrequests.certificates.k8s.io': {
    create: 'any',
    get: 'any',
    list: 'any',
    watch: 'any',
  },
  'tokenreviews.authentication.k8s.io': { create: 'any' },
  'subjectaccessreviews.authorization.k8s.io': { create: 'any' },
  'localsubjectaccessreviews.authorization.k8s.io': { create: 'any' },
};

function asNode(node: string): Expectation {
  const own = new Set([`/${node}`, `${home}/of-${node}`, `kube-node-lease/${node}`]);
  return (request) => {
    const { verb, group, resource, namespace, name } = request;
    const right = nodeTable[group === '' ? resource : `${resource}.${group}`]?.[verb];
    return (
      byGroup(request) || right === 'any' || (right === 'own' && own.has(`${namespace}/${name}`))
    );
  };
}

const expectations: Readonly<Record<string, Expectation>> = {
  anonymous: () => false,
  viewer: inside(home, rulesOf('view')),
  editor: inside(home, rulesOf('edit')),
  'system:node:n1': asNode('n1'),
  'system:node:n2': asNode('n2'),
  [robot]: inside(other, robotRules),
};

/** Requests under way at once: fewer than any limit of the server. */
const atOnce = 8;

async function differences(
  who: string,
  requests: readonly AccessRequest[],
  expected: Expectation,
): Promise<readonly string[]> {
  const found: string[] = [];
  const waiting = [...requests];
  const askSome = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const isAllowed = !(await isForbidden(who, next.call));
      if (isAllowed !== expected(next))
        found.push(`${isAllowed ? 'may' : 'may not'} ${describeRequest(next)}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, askSome));
  return found.sort();
}

const requests = allAccessRequests();

for (const [who, expected] of Object.entries(expectations)) {
  test(`${who} gets exactly what the roles say`, { timeout }, async () => {
    // Guards against a table that expects nothing, and against one that expects everything.
    const some = requests.filter(expected).length;
    assert.ok(some < requests.length / 2 && (some > 0 || who === 'anonymous'));
    assert.deepEqual(await differences(who, requests, expected), []);
  });
}

test('the administrator is let through everywhere', { timeout }, async () => {
  clients.set('administrator', running.api);
  assert.deepEqual(await differences('administrator', requests, () => true), []);
});

const openPaths = ['/healthz', '/livez', '/readyz', '/version'];
const knownPaths = ['/api', '/apis', '/apis/apps/v1', '/openapi/v2', '/openapi/v3'];
const accountPaths = ['/.well-known/openid-configuration', '/openid/v1/jwks'];
const closedPaths = ['/metrics', '/metrics/slis', '/livez/ping', '/logs', '/', '/nonsense'];

for (const who of Object.keys(expectations)) {
  test(`${who} sees exactly the paths that the roles say`, { timeout }, async () => {
    const expected = [
      ...openPaths,
      ...(who === 'anonymous' ? [] : knownPaths),
      ...(who === robot ? accountPaths : []),
    ];
    const seen: string[] = [];
    for (const path of [...openPaths, ...knownPaths, ...accountPaths, ...closedPaths]) {
      if (!(await isForbidden(who, { method: 'GET', path }))) seen.push(path);
    }
    assert.deepEqual(seen, expected);
  });
}
