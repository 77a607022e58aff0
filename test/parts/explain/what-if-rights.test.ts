// A prediction against a real API server: with the right to list, with less, and with lists alone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWhatIfSnapshot } from '../../../src/cli/explain/read-what-if.ts';
import { failureAnswer } from '../../../src/client/example.ts';
import type { Session } from '../../../src/flags/client-flags.ts';
import { UsageError } from '../../../src/flags/command.ts';
import type { Right } from '../../../src/kinds/rbac/rights.ts';
import { nftables } from '../../../src/proxy/modes/nftables/mode.ts';
import { clusterSettings } from '../../../src/snapshot/cluster-settings.ts';
import { indexSnapshot } from '../../../src/snapshot/index-snapshot.ts';
import { ChangeError } from '../../../src/what-if/change.ts';
import { compareCluster } from '../../../src/what-if/compare-cluster.ts';
import { type ChangeWord, parseChange } from '../../../src/what-if/parse-change.ts';
import type { WhatIf } from '../../../src/what-if/what-if.ts';
import { silentWorld } from '../../lanes/silent-world.ts';
import { accountUser, type RightsHarness, startRightsHarness } from '../harness/rights-harness.ts';

const limit = { timeout: 60_000 };

const pod = (name: string, node: string): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: shop, labels: {app: web}}
spec: {nodeName: ${node}, containers: [{name: web, image: web}]}
`;

const manifest = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {topology.kubernetes.io/zone: a}}
spec: {podCIDR: 10.244.1.0/24, podCIDRs: [10.244.1.0/24]}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {topology.kubernetes.io/zone: b}}
spec: {podCIDR: 10.244.2.0/24, podCIDRs: [10.244.2.0/24]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-x, namespace: shop, labels: {kubernetes.io/service-name: web, endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints:
- {addresses: [10.244.1.5], nodeName: n1, zone: a, conditions: {ready: true}, targetRef: {kind: Pod, namespace: shop, name: web-1}}
- {addresses: [10.244.2.5], nodeName: n2, zone: b, conditions: {ready: true}, targetRef: {kind: Pod, namespace: shop, name: web-2}}
---${pod('web-1', 'n1')}---${pod('web-2', 'n2')}`;

const groupOf: Readonly<Record<string, string>> = {
  endpointslices: 'discovery.k8s.io',
  servicecidrs: 'networking.k8s.io',
  deployments: 'apps',
  replicasets: 'apps',
  poddisruptionbudgets: 'policy',
};
const resources = [
  'services',
  'endpointslices',
  'endpoints',
  'pods',
  'nodes',
  'namespaces',
  'configmaps',
  'servicecidrs',
  'deployments',
  'replicasets',
  'poddisruptionbudgets',
];
const listing = (...without: readonly string[]): readonly Right[] =>
  resources
    .filter((one) => !without.includes(one))
    .map((one) => ({ group: groupOf[one] ?? '', resources: [one], verbs: ['list'] }));

async function start(rights: readonly Right[]): Promise<RightsHarness> {
  const harness = await startRightsHarness();
  await harness.apply(manifest);
  const ready = [{ type: 'Ready', status: 'True' }];
  for (const number of [1, 2]) {
    const ip = `10.244.${number}.5`;
    const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: ready };
    await harness.server.api.patch(`/api/v1/namespaces/shop/pods/web-${number}/status`, { status });
  }
  await harness.grant('reader', rights);
  return harness;
}

type Change = readonly [ChangeWord, string];

async function predictAs(
  { sendAs }: RightsHarness,
  change: Change,
  send: (through: ReturnType<typeof sendAs>) => ReturnType<typeof sendAs> = (one) => one,
): Promise<WhatIf> {
  const transport = { send: send(sendAs('reader')), close: () => Promise.resolve() };
  const session = {
    ...{ caller: { transport, userAgent: 'test' }, namespace: 'shop', isNamespaceSet: false },
    connection: {},
  } as unknown as Session;
  const snapshot = await readWhatIfSnapshot(session, silentWorld, []);
  return compareCluster(
    snapshot,
    { changes: [parseChange(...change, 'shop')], namespace: 'shop', now: 0 },
    { settings: clusterSettings(indexSnapshot(snapshot)), mode: nftables },
  );
}

const local: Change = ['set', 'svc/web:internalTrafficPolicy=Local'];

test(
  'compareCluster() needs the right to list, and nothing is requested but lists',
  limit,
  async (t) => {
    const harness = await start(listing());
    t.after(harness.stop);
    harness.lines.length = 0;
    const found = await predictAs(harness, ['delete', 'pod/web-1']);
    assert.equal(found.verdict.level, 'change');
    assert.deepEqual(found.unread, []);
    const verbs = harness.lines
      .filter(({ user }) => user.username === accountUser('reader'))
      .map(({ verb }) => verb);
    assert.deepEqual([...new Set(verbs)], ['list']);
  },
);

test('compareCluster() goes on without what does not matter', limit, async (t) => {
  const harness = await start(
    listing(
      'nodes',
      'namespaces',
      'configmaps',
      'servicecidrs',
      'deployments',
      'replicasets',
      'poddisruptionbudgets',
    ),
  );
  t.after(harness.stop);
  const found = await predictAs(harness, ['delete', 'pod/web-1']);
  assert.equal(found.verdict.level, 'change');
  assert.ok(found.assumptions.some((text) => /^Nodes cannot be read/.test(text)));
});

test('compareCluster() without pods predicts policies, and refuses drains', limit, async (t) => {
  const harness = await start(listing('pods'));
  t.after(harness.stop);
  const found = await predictAs(harness, local);
  assert.equal(found.services[0]?.views.length, 2);
  await assert.rejects(predictAs(harness, ['drain', 'node/n1']), (error) => {
    assert.ok(error instanceof ChangeError);
    return /pods cannot be read.*cannot list resource "pods"/.test(error.message);
  });
});

test('compareCluster() without slices has nothing to compare', limit, async (t) => {
  const harness = await start(listing('endpointslices'));
  t.after(harness.stop);
  await assert.rejects(predictAs(harness, local), (error) => {
    assert.ok(error instanceof UsageError);
    assert.match(error.message, /needs the right to list endpointslices/);
    return true;
  });
});

test('compareCluster() reads one namespace where the user may read no other', limit, async (t) => {
  const harness = await start([]);
  t.after(harness.stop);
  await harness.apply(`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: own, namespace: shop}
rules:
- {apiGroups: ['', apps, discovery.k8s.io], resources: ['*'], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: own, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: own}
subjects: [{kind: ServiceAccount, namespace: kube-system, name: reader}]
`);
  const found = await predictAs(harness, ['delete', 'pod/web-1']);
  assert.equal(found.verdict.level, 'change');
  assert.ok(found.assumptions.some((text) => /^Only namespace shop could be read/.test(text)));
});

test('compareCluster() works with a server that lacks kinds', limit, async (t) => {
  const harness = await start(listing());
  t.after(harness.stop);
  const found = await predictAs(
    harness,
    local,
    (send) => (request) =>
      /servicecidrs|apps\/v1/.test(request.path)
        ? Promise.resolve(failureAnswer(404, 'NotFound'))
        : send(request),
  );
  assert.equal(found.services.length, 1);
  assert.deepEqual([...new Set(found.unread.map(({ reason }) => reason))], ['not-served']);
});
