// A trace against a real API server: with the right to read, with few rights, and with as few requests as it needs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiCaller } from '../../../src/client/api-call.ts';
import type { Right } from '../../../src/kinds/rbac/rights.ts';
import { loadAllModes } from '../../../src/proxy/modes/all.ts';
import { clusterSettings } from '../../../src/snapshot/cluster-settings.ts';
import { indexSnapshot } from '../../../src/snapshot/index-snapshot.ts';
import { parseSource, parseTarget } from '../../../src/trace/parse-target.ts';
import { readTraceSnapshot } from '../../../src/trace/read-trace-snapshot.ts';
import type { Trace } from '../../../src/trace/trace.ts';
import { traceConnection } from '../../../src/trace/trace-connection.ts';
import { accountUser, type RightsHarness, startRightsHarness } from '../harness/rights-harness.ts';

const limit = { timeout: 60_000 };

const manifest = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {podCIDR: 10.244.1.0/24, podCIDRs: [10.244.1.0/24]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.77, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: other, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: near, namespace: shop}
spec: {internalTrafficPolicy: Local, ports: [{name: http, port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: far, namespace: shop}
spec: {type: ExternalName, externalName: web.shop.svc.cluster.local}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-x, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints: [{addresses: [10.244.1.5], nodeName: n1, conditions: {ready: true}}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: near-x, namespace: shop, labels: {kubernetes.io/service-name: near}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints: [{addresses: [10.244.1.5], nodeName: n1, conditions: {ready: true}}]
`;

const reading = (...resources: readonly string[]): readonly Right[] =>
  resources.map((resource) => ({
    group:
      resource === 'endpointslices'
        ? 'discovery.k8s.io'
        : resource === 'servicecidrs'
          ? 'networking.k8s.io'
          : '',
    resources: [resource],
    verbs: ['get', 'list'],
  }));
const all = [
  'services',
  'endpointslices',
  'pods',
  'nodes',
  'namespaces',
  'configmaps',
  'servicecidrs',
];
const without = (...left: readonly string[]) =>
  reading(...all.filter((one) => !left.includes(one)));

async function start(rights: readonly Right[]): Promise<RightsHarness> {
  const harness = await startRightsHarness();
  await harness.apply(manifest);
  await harness.grant('reader', rights);
  return harness;
}

const [mode] = await loadAllModes();

async function traceAs({ sendAs }: RightsHarness, text: string): Promise<Trace | string> {
  const caller: ApiCaller = {
    transport: { send: sendAs('reader'), close: () => Promise.resolve() },
    userAgent: 'test',
  };
  const [target, from] = [parseTarget(text), parseSource('pod/any')];
  assert.ok('value' in target && 'value' in from && mode !== undefined);
  const request = {
    ...{ text, target: target.value, namespace: 'shop' },
    from: { kind: 'any-pod' },
  } as const;
  const snapshot = await readTraceSnapshot(caller, { ...request, flags: {} });
  const index = indexSnapshot(snapshot);
  const traced = traceConnection(index, request, { settings: clusterSettings(index), mode });
  return 'error' in traced ? traced.error : traced.value;
}

const cases: readonly {
  readonly title: string;
  readonly rights: readonly Right[];
  readonly target: string;
  readonly kind: Trace['verdict']['kind'];
  readonly sentence: RegExp;
}[] = [
  {
    title: 'reads all that it needs with the right to read',
    rights: without(),
    target: 'http://web/',
    kind: 'answered',
    sentence: /^Answered by 10\.244\.1\.5, at port 8080$/,
  },
  {
    title: 'follows an alias within the cluster',
    rights: without(),
    target: 'far:80',
    kind: 'answered',
    sentence: /^Answered by 10\.244\.1\.5/,
  },
  {
    title: 'finds a Service by its address',
    rights: without(),
    target: '10.96.0.77:80',
    kind: 'answered',
    sentence: /^Answered by 10\.244\.1\.5/,
  },
  {
    title: 'needs no right to read what does not matter',
    rights: without('nodes', 'pods', 'configmaps', 'namespaces', 'servicecidrs'),
    target: 'http://web/',
    kind: 'answered',
    sentence: /^Answered by 10\.244\.1\.5/,
  },
  {
    title: 'does not know what depends on slices that cannot be read',
    rights: without('endpointslices'),
    target: 'http://web/',
    kind: 'unknown',
    sentence: /endpoint slices of Service shop\/web cannot be read/,
  },
  {
    title: 'does not know which names exist where Services cannot be read',
    rights: without('services'),
    target: 'http://web/',
    kind: 'unknown',
    sentence: /depends on objects that cannot be read/,
  },
  {
    title: 'does not know what policy Local does where nodes cannot be read',
    rights: without('nodes'),
    target: 'http://near/',
    kind: 'unknown',
    sentence: /depends on the node, and nodes cannot be read/,
  },
  {
    title: 'gets what it may not get by name from a list',
    rights: [{ group: '*', resources: ['*'], verbs: ['list'] }],
    target: 'http://web/',
    kind: 'answered',
    sentence: /^Answered by 10\.244\.1\.5/,
  },
];

for (const { title, rights, target, kind, sentence } of cases) {
  test(`readTraceSnapshot() ${title}`, limit, async (t) => {
    const harness = await start(rights);
    t.after(harness.stop);
    const traced = await traceAs(harness, target);
    assert.ok(typeof traced !== 'string', `${traced}`);
    assert.deepEqual(
      [traced.verdict.kind, traced.unread.length > 0],
      [kind, kind === 'unknown'],
      traced.verdict.sentence,
    );
    assert.match(traced.verdict.sentence, sentence);
  });
}

test(
  'readTraceSnapshot() lists neither all Services nor all slices for a name',
  limit,
  async (t) => {
    const harness = await start(without());
    t.after(harness.stop);
    await traceAs(harness, 'http://web/');
    const lists = harness.lines
      .filter(({ user, verb }) => user.username === accountUser('reader') && verb === 'list')
      .map(({ requestURI }) => decodeURIComponent(requestURI).split('?'))
      .filter(([path]) => /\/(services|endpointslices|pods|configmaps)$/.test(path ?? ''));
    for (const [, query] of lists) assert.match(query ?? '', /Selector=/);
  },
);

test('traceConnection() says what does not exist', limit, async (t) => {
  const harness = await start(without());
  t.after(harness.stop);
  assert.equal(
    await traceAs(harness, 'svc/nope'),
    'There is no Service "nope" in namespace "shop"',
  );
  assert.equal(await traceAs(harness, 'node/n9:80'), 'There is no node "n9"');
  assert.equal(
    await traceAs(harness, 'svc/web:https'),
    'Service shop/web has no port "https"; it has http 80/TCP',
  );
});
