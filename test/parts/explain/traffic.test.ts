// Traffic over a real API server: proxies that answer, and users who want to know. What proxies count is tested with real connections.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  answerQuestions,
  type QuestionHandler,
} from '../../../src/client/parts/answer-questions.ts';
import { systemClock } from '../../../src/host/clock.ts';
import {
  type NodeTraffic,
  type PortTraffic,
  type TrafficRequest,
  trafficQuestion,
} from '../../../src/kinds/part/traffic.ts';
import { readTrafficList } from '../../../src/kinds/part/traffic-list.ts';
import { may, type Right } from '../../../src/kinds/rbac/rights.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { kubeconfigText } from '../harness/kubectl.ts';
import { type RightsHarness, startRightsHarness } from '../harness/rights-harness.ts';
import { runCommand } from '../harness/run-command.ts';

const limit = { timeout: 60_000 };
const root = '/apis/parts.fairlead.dev/v1alpha1';
const group = 'parts.fairlead.dev';
const proxyRights = [
  may('get', { group, plural: 'parts' }, { subresource: 'questions' }),
  may('create', { group, plural: 'parts' }, { subresource: 'answers' }),
];

const manifest = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {clusterIP: 10.96.0.77, sessionAffinity: ClientIP, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {name: idle, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-x, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080, protocol: TCP}]
endpoints:
- {addresses: [10.244.1.5], nodeName: n1, conditions: {ready: true}, targetRef: {kind: Pod, namespace: shop, name: web-1}}
- {addresses: [10.244.2.5], nodeName: n2, conditions: {ready: true}, targetRef: {kind: Pod, namespace: shop, name: web-2}}
`;

function port(connections: readonly number[], parts: Partial<PortTraffic> = {}): PortTraffic {
  return {
    ...{ namespace: 'shop', name: 'web', portName: 'http', family: 'IPv4', protocol: 'TCP' },
    ...{ port: 80, eligible: { cluster: 2, local: 0 } },
    endpoints: connections.map((tracked, at) => ({
      ...{ set: 'cluster', isEligible: true, ip: `10.244.${at + 1}.5`, port: 8080, tracked },
      ...{ open: tracked, unanswered: 0, opened: 0, bytesIn: 100, bytesOut: 200, uncounted: 0 },
      ...{ clients: 1, busiest: [{ client: '10.244.9.9:4711', bytes: 10 }] },
    })),
    ...parts,
  };
}

const answer = (ports: readonly PortTraffic[], parts: Partial<NodeTraffic> = {}): NodeTraffic => ({
  ...{ mode: 'nftables', intervalMs: 2000, ageMs: 0, bytesCounted: 'yes' },
  ...{ ports, omittedRows: 0, isPartial: false },
  ...parts,
});

type World = {
  readonly harness: RightsHarness;
  readonly directory: string;
  readonly run: (line: string) => ReturnType<typeof runCommand>;
};

async function start(t: TestContext): Promise<World> {
  const harness = await startRightsHarness();
  t.after(harness.stop);
  await harness.apply(manifest);
  await harness.grant('proxy', proxyRights);
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-top-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, 'kubeconfig'), kubeconfigText(harness.server.server.address.port));
  const run = (line: string) =>
    runCommand(`${line} --kubeconfig ${directory}/kubeconfig`, directory);
  return { harness, directory, run };
}

/** A proxy that answers with anything. Resolves when the server knows it. */
async function proxyOn(
  t: TestContext,
  { harness }: World,
  node: string,
  reply: (request: TrafficRequest) => unknown,
): Promise<() => void> {
  const stopping = new AbortController();
  const handler: QuestionHandler = {
    question: trafficQuestion.name,
    // As text, as proxies send it.
    answer: async (spec) =>
      JSON.stringify(await reply(trafficQuestion.readSpec(spec) as TrafficRequest)),
  };
  const transport = { send: harness.sendAs('proxy'), close: () => Promise.resolve() };
  const ended = answerQuestions(
    {
      caller: { transport, userAgent: 'test' },
      part: { kind: 'proxy', node },
      ...{ clock: systemClock, log: silentLog, handlers: [handler] },
    },
    stopping.signal,
  );
  t.after(async () => {
    stopping.abort();
    await ended;
  });
  const spec = { services: 0, slices: 0 };
  for (;;) {
    const question = { question: 'Position', spec, timeoutMilliseconds: 100 };
    const { status } = await harness.server.api.post<{
      readonly status: { readonly answers?: readonly { readonly part: string }[] };
    }>(`${root}/questions`, { spec: question });
    if (status.answers?.some(({ part }) => part === `proxy.${node}`)) return () => stopping.abort();
  }
}

test('top shows what the proxies of all nodes measured, and why it is uneven', limit, async (t) => {
  const world = await start(t);
  await proxyOn(t, world, 'n1', () => answer([port([60, 1])]));
  await proxyOn(t, world, 'n2', () => answer([port([39, 0])], { intervalMs: 1000 }));
  const { code, out, err } = await world.run('top services -n shop');
  assert.deepEqual([code, err], [0, '']);
  const [header = '', web = '', ...rest] = out.split('\n');
  assert.match(header, /^NAMESPACE +SERVICE +ENDPOINTS +OPEN +NEW\/S +IN\/S +OUT\/S +SKEW$/);
  assert.match(
    web,
    /^shop +web +2 +100 +0 +300 B +600 B +1\.98x connections: affinity, few-clients$/,
  );
  assert.deepEqual(rest, [
    '1 Service without connections',
    'measured on 2 nodes for 1.0 to 2.0 s',
    '',
  ]);
  const one = await world.run('top services svc/web -n shop');
  assert.match(
    one.out,
    /^port http 80\/TCP, IPv4 {2}100 open, 0 new\/s, 300 B\/s in, 600 B\/s out\n/,
  );
  assert.match(one.out, /\n10\.244\.1\.5:8080 +web-1 +99 +50% +99% .* n1\n/);
  assert.match(
    one.out,
    /\nskew: pod web-1 has 1\.98 times its even share of 100 connections\n {2}affinity: /,
  );
  const json = JSON.parse((await world.run('top services -A -o json')).out) as {
    readonly kind: string;
    readonly services: readonly { readonly name: string; readonly openConnections: number }[];
  };
  assert.equal(json.kind, 'ServiceTraffic');
  const open = json.services.map(({ name, openConnections }) => [name, openConnections]);
  assert.deepEqual(open, [
    ['web', 100],
    ['kubernetes', 0],
    ['idle', 0],
  ]);
});

test(
  'a question is about the Services that were requested, and no others are shown',
  limit,
  async (t) => {
    const world = await start(t);
    const requests: TrafficRequest[] = [];
    await proxyOn(t, world, 'n1', (request) => {
      requests.push(request);
      return answer([port([1]), port([1], { namespace: 'secret', name: 'other' })]);
    });
    const { out } = await world.run('top services svc/web -n shop --interval 500ms -o json');
    const { intervalMs, namespace, name } = requests[0] ?? {};
    assert.deepEqual([intervalMs, namespace, name], [500, 'shop', 'web']);
    assert.doesNotMatch(out, /secret|other/);
    await world.run('top services -n shop');
    assert.deepEqual([requests[1]?.namespace, requests[1]?.name], ['shop', undefined]);
    assert.equal(requests[1]?.maxRows, 1000);
  },
);

const clearScreen = '\u001b[2J';
const lies: readonly (readonly [string, unknown])[] = [
  ['nothing', null],
  ['a text', 'x'],
  ['no ports', { ...answer([]), ports: 'all' }],
  ['half a million ports', { ...answer([]), ports: Array.from({ length: 500_000 }, () => 1) }],
  ['too many rows', answer([port(Array.from({ length: 1001 }, () => 1))])],
  ['a count that is no number', answer([port([Number.NaN])])],
  ['a negative count', answer([port([-1])])],
  ['a count beyond exact numbers', answer([port([1e300])])],
  ['a text for a count', answer([port(['7' as unknown as number])])],
  ['escapes in a name', answer([port([1], { name: `web${clearScreen}` })])],
  ['escapes in a port', answer([port([1], { portName: clearScreen })])],
  ['escapes in a mode', answer([port([1])], { mode: clearScreen })],
  ['another family', answer([port([1], { family: 'IPv6' })])],
  ['an interval of no time', answer([port([1])], { intervalMs: 0 })],
  ['an interval that is no number', answer([port([1])], { intervalMs: Number.NaN })],
];

test('a proxy that lies is one without an answer; the others count', limit, async (t) => {
  const world = await start(t);
  let lie: unknown;
  await proxyOn(t, world, 'honest', () => answer([port([7, 7])]));
  await proxyOn(t, world, 'liar', () => lie);
  for (const [title, value] of lies) {
    lie = value;
    const { code, out } = await world.run('top services -n shop');
    assert.equal(code, 0, title);
    assert.ok(!out.includes('\u001b'), title);
    assert.match(out, /^shop +web +2 +14 /m, title);
    assert.match(
      out,
      /measured on 1 of 2 nodes for 2\.0 s\nnothing is known of node liar: /,
      title,
    );
  }
});

test('many users who ask at once cost one question, and each gets the answer', limit, async (t) => {
  const world = await start(t);
  let questions = 0;
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await proxyOn(t, world, 'n1', async () => {
    questions += 1;
    await held;
    return answer([port([5])]);
  });
  const { server, grant, sendAs } = world.harness;
  await grant('reader', [may('get', { group, plural: 'traffics' })]);
  const path = `${root}/namespaces/shop/traffics/web`;
  const asking = Array.from({ length: 200 }, async () => {
    const { body } = await sendAs('reader')({ method: 'GET', path });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return readTrafficList(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  });
  // Calls within the process are far ahead of these, over a socket.
  for (let n = 0; n < 50 || questions === 0; n += 1)
    await server.api.get('/api/v1/namespaces/shop');
  release();
  const lists = await Promise.all(asking);
  assert.equal(
    lists.filter((list) => list?.[0] !== undefined && 'measured' in list[0]).length,
    200,
  );
  assert.equal(questions, 1);
});

test('a proxy that ends meanwhile does not hold up the others', limit, async (t) => {
  const world = await start(t);
  await proxyOn(t, world, 'n1', () => answer([port([5])]));
  let stop = (): void => {};
  stop = await proxyOn(t, world, 'n2', () => {
    stop();
    return new Promise(() => {});
  });
  const { code, out } = await world.run('top services -n shop');
  assert.equal(code, 0);
  assert.match(out, /^shop +web +2 +5 /m);
});

test('without the right, or without a proxy, there is one sentence', limit, async (t) => {
  const world = await start(t);
  const none = await world.run('top services -n shop');
  assert.deepEqual([none.code, none.out], [2, '']);
  assert.match(none.err, /^Nothing was measured: no node proxy is connected[^\n]*\n$/);
  const eve = await world.run('top services -n shop --as eve');
  assert.deepEqual([eve.code, eve.out], [2, '']);
  assert.match(
    eve.err,
    /^Error from server \(Forbidden\): [^\n]*cannot list resource "traffics"[^\n]*\n$/,
  );
  const gone = await world.run('top services svc/none -n shop');
  assert.deepEqual(
    [gone.code, gone.err],
    [2, 'Error from server (NotFound): services "none" not found\n'],
  );
});

const statuses: readonly (readonly [string, string, readonly Right[], number])[] = [
  ['one Service', 'namespaces/shop/traffics/web', [may('get', { group, plural: 'traffics' })], 200],
  ['a list', 'namespaces/shop/traffics', [may('list', { group, plural: 'traffics' })], 200],
  ['all namespaces', 'traffics', [may('list', { group, plural: 'traffics' })], 200],
  [
    'a list without the right',
    'namespaces/shop/traffics',
    [may('get', { group, plural: 'traffics' })],
    403,
  ],
  [
    'another namespace',
    'namespaces/shop/traffics',
    [may('list', { group, plural: 'traffics' }, { namespace: 'default' })],
    403,
  ],
  [
    'all of them, with the right to one namespace',
    'traffics',
    [may('list', { group, plural: 'traffics' }, { namespace: 'shop' })],
    403,
  ],
  [
    'a Service without its namespace',
    'traffics/web',
    [may('get', { group, plural: 'traffics' })],
    404,
  ],
  [
    'an interval that is none',
    'namespaces/shop/traffics?intervalMilliseconds=1e9',
    [may('list', { group, plural: 'traffics' })],
    400,
  ],
];

test('the server answers who may read traffic', limit, async (t) => {
  const world = await start(t);
  for (const [at, [title, path, rights, status]] of statuses.entries()) {
    await world.harness.grant(`reader-${at}`, rights);
    const answered = await world.harness.sendAs(`reader-${at}`)({
      method: 'GET',
      path: `${root}/${path}`,
    });
    assert.equal(answered.status, status, title);
  }
});
