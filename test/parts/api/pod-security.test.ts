// PodSecurity admission on the whole server, beside what the recordings show.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { metadataPolicy } from '../../../src/apiserver/audit/policy.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import type { Answer, ApiCall } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer } from '../harness/memory-server.ts';

const timeout = 30_000;
const prefix = 'pod-security.kubernetes.io/';
type AuditLine = { readonly annotations: Readonly<Record<string, string>> };
const lines: AuditLine[] = [];

let running: MemoryServer;
before(async () => {
  const latest = (level: 'privileged' | 'baseline') => ({ level, version: 'latest' }) as const;
  running = await startMemoryServer({
    access: {
      audit: {
        policy: metadataPolicy,
        log: { write: (line) => lines.push(JSON.parse(line)), close: async () => {} },
      },
      pluginConfiguration: {
        podSecurity: {
          defaults: {
            enforce: latest('privileged'),
            audit: latest('privileged'),
            warn: latest('baseline'),
          },
          exemptions: {
            namespaces: ['exempt'],
            usernames: ['trusted'],
            runtimeClasses: ['sandboxed'],
          },
        },
      },
    },
  });
});
after(() => running.stop());

let made = 0;
async function namespace(labels: Readonly<Record<string, string>>, name = ''): Promise<string> {
  made += 1;
  const given = name || `ps-${made}`;
  const own = Object.fromEntries(Object.entries(labels).map(([k, v]) => [`${prefix}${k}`, v]));
  await running.api.post('/api/v1/namespaces', { metadata: { name: given, labels: own } });
  return given;
}

const pod = (name: string, more: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...more },
});
const podsOf = (name: string): string => `/api/v1/namespaces/${name}/pods`;
const merge = { 'content-type': 'application/merge-patch+json' };
const send = (call: ApiCall): Promise<Answer<KubeObject & { readonly message?: string }>> =>
  running.api.send(call);
const warnings = ({ headers }: Answer<unknown>): string => String(headers.warning ?? '');

test('a bad label is refused when it is new, and left alone when it is old', {
  timeout,
}, async () => {
  const name = await namespace({});
  const path = `/api/v1/namespaces/${name}`;
  const labels = (enforce: string) => ({ metadata: { labels: { [`${prefix}enforce`]: enforce } } });
  for (const method of ['POST', 'PATCH'] as const) {
    const created = { metadata: { name: 'bad', ...labels('strict').metadata } };
    const answer = await send(
      method === 'POST'
        ? { method, path: '/api/v1/namespaces', body: created }
        : { method, path, headers: merge, body: labels('strict') },
    );
    assert.equal(answer.status, 422);
    assert.equal(
      answer.body.message,
      `Namespace "${method === 'POST' ? 'bad' : name}" is invalid: metadata.labels[${prefix}enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted`,
    );
  }
});

test('the audit log says what was enforced and what would be violated', { timeout }, async () => {
  const name = await namespace({ enforce: 'privileged', audit: 'baseline', warn: 'privileged' });
  lines.length = 0;
  await running.api.post(podsOf(name), pod('p', { hostPID: true }));
  assert.deepEqual(podSecurityOf(lines[0]), {
    'audit-violations':
      'would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)',
    'enforce-policy': 'privileged:latest',
  });
});

const podSecurityOf = (line: AuditLine | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(line?.annotations ?? {})
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => [key.slice(prefix.length), value]),
  );

test('defaults hold where a namespace says nothing', { timeout }, async () => {
  const name = await namespace({});
  const answer = await send({
    ...{ method: 'POST', path: podsOf(name) },
    body: pod('p', { hostPID: true }),
  });
  assert.equal(answer.status, 201);
  assert.match(
    warnings(answer),
    /would violate PodSecurity \\"baseline:latest\\": host namespaces/,
  );
});

test('exempt namespaces, users and runtime classes are let pass', { timeout }, async () => {
  await namespace({ enforce: 'restricted' }, 'exempt');
  const strict = await namespace({ enforce: 'restricted' });
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'trusted' }];
  await running.api.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'trusted' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects,
  });
  const runtime = { runtimeClassName: 'sandboxed' };
  const cases: readonly (readonly [string, ApiCall])[] = [
    ['namespace', { method: 'POST', path: podsOf('exempt'), body: pod('a') }],
    [
      'user',
      {
        ...{ method: 'POST', path: podsOf(strict), body: pod('b') },
        headers: { 'impersonate-user': 'trusted' },
      },
    ],
    ['runtimeClass', { method: 'POST', path: podsOf(strict), body: pod('c', runtime) }],
  ];
  for (const [exempt, call] of cases) {
    lines.length = 0;
    const answer = await send(call);
    assert.equal(answer.status, 201, `${exempt}: ${answer.body.message}`);
    assert.equal(warnings(answer), '');
    assert.deepEqual(podSecurityOf(lines[0]), { exempt });
  }
  const body = { metadata: { labels: { [`${prefix}enforce`]: 'baseline' } } };
  const path = '/api/v1/namespaces/exempt';
  await send({ method: 'PATCH', path, headers: merge, body: { metadata: { labels: null } } });
  const answer = await send({ method: 'PATCH', path, headers: merge, body });
  assert.equal(
    warnings(answer),
    '299 - "namespace \\"exempt\\" is exempt from Pod Security, and the policy (enforce=baseline:latest) will be ignored"',
  );
});

test('ephemeral containers are checked, other changes of a bad pod are not', {
  timeout,
}, async () => {
  const name = await namespace({});
  await running.api.post(podsOf(name), pod('p', { hostPID: true }));
  const enforce = { metadata: { labels: { [`${prefix}enforce`]: 'baseline' } } };
  await running.api.patch(`/api/v1/namespaces/${name}`, enforce);
  const path = `${podsOf(name)}/p`;
  const change = (at: string, spec: object): Promise<Answer<{ readonly message?: string }>> =>
    send({ method: 'PATCH', path: `${path}${at}`, headers: merge, body: { spec } });
  assert.equal((await change('', { activeDeadlineSeconds: 60 })).status, 200);
  const added = await change('/ephemeralcontainers', {
    ephemeralContainers: [{ name: 'e', image: 'i' }],
  });
  assert.equal(added.status, 403);
  assert.equal(
    added.body.message,
    'pods "p" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)',
  );
});

test('a generated name is in the message', { timeout }, async () => {
  const name = await namespace({ enforce: 'baseline' });
  const body = { ...pod('', { hostPID: true }), metadata: { generateName: 'web-' } };
  const answer = await send({ method: 'POST', path: podsOf(name), body });
  assert.match(answer.body.message ?? '', /^pods "web-[a-z0-9]{5}" is forbidden: violates/);
});

const makers: readonly (readonly [string, object])[] = [
  [
    '/apis/apps/v1/namespaces/NS/deployments',
    { selector: { matchLabels: { a: 'b' } }, replicas: 0 },
  ],
  [
    '/apis/apps/v1/namespaces/NS/replicasets',
    { selector: { matchLabels: { a: 'b' } }, replicas: 0 },
  ],
  ['/api/v1/namespaces/NS/replicationcontrollers', { selector: { a: 'b' }, replicas: 0 }],
];
for (const [path, spec] of makers) {
  test(`what makes pods is warned about: ${path}`, { timeout }, async () => {
    const name = await namespace({ warn: 'baseline', 'warn-version': 'v1.30' });
    const template = { ...pod('', { hostPID: true }), metadata: { labels: { a: 'b' } } };
    const body = { metadata: { name: 'w' }, spec: { ...spec, template } };
    const at = path.replace('NS', name);
    const expected =
      '299 - "would violate PodSecurity \\"baseline:v1.30\\": host namespaces (hostPID=true)"';
    assert.equal(warnings(await send({ method: 'POST', path: at, body })), expected);
    const labelled = { metadata: { labels: { c: 'd' } } };
    const call = { method: 'PATCH', path: `${at}/w`, headers: merge, body: labelled };
    assert.equal(warnings(await send(call)), expected);
  });
}

test('an invalid pod is refused by validation before admission', { timeout }, async () => {
  const name = await namespace({ enforce: 'restricted' });
  const answer = await send({ method: 'POST', path: podsOf(name), body: pod('P_') });
  assert.equal(answer.status, 422);
});
