// `fairlead doctor` against a real API server: repairs with and without rights, and what a watch says while the cluster changes.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type ClusterRequest, runOnCluster } from '../../../src/cli/doctor/run-on-cluster.ts';
import { failureAnswer } from '../../../src/client/example.ts';
import { answerQuestions, answerTo } from '../../../src/client/parts/answer-questions.ts';
import type { Transport } from '../../../src/client/transport.ts';
import { doctorRights } from '../../../src/doctor/rights.ts';
import type { Session } from '../../../src/flags/client-flags.ts';
import { UsageError, type World } from '../../../src/flags/command.ts';
import { systemClock } from '../../../src/host/clock.ts';
import { positionQuestion } from '../../../src/kinds/part/position.ts';
import type { Right } from '../../../src/kinds/rbac/rights.ts';
import { may } from '../../../src/kinds/rbac/rights.ts';
import type { Service } from '../../../src/kinds/service/types.ts';
import { silentLog } from '../../../src/observe/log.ts';
import { silentWorld } from '../../lanes/silent-world.ts';
import {
  accountUser,
  type RightsHarness,
  refusals,
  startRightsHarness,
  unused,
  withoutStreams,
} from '../harness/rights-harness.ts';

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
kind: Pod
metadata: {name: web-1, namespace: shop, labels: {app: web}}
spec: {nodeName: n1, containers: [{name: app, image: "app:1", ports: [{name: http, containerPort: 8080}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: wbe}, ports: [{port: 80, targetPort: http}]}
---
apiVersion: v1
kind: Service
metadata: {name: local, namespace: shop}
spec: {type: ExternalName, externalName: web.shop.svc.cluster.local}
`;

const path = '/api/v1/namespaces/shop/services/web';
const reading = doctorRights;
const writing = [...reading, { group: '', resources: ['services'], verbs: ['patch'] }];

type Shop = RightsHarness & {
  readonly selector: () => Promise<unknown>;
  readonly doctor: (request: Partial<ClusterRequest>, world?: Partial<World>) => Promise<Ran>;
};
type Ran = { readonly out: string; readonly err: string; readonly codes: readonly string[] };

type ShopOptions = {
  readonly rights?: readonly Right[];
  /** Paths that the server does not have contain one of these words. */
  readonly lacks?: readonly string[];
};

async function startShop(
  t: TestContext,
  { rights = writing, lacks = [] }: ShopOptions = {},
): Promise<Shop> {
  const harness = await startRightsHarness();
  t.after(harness.stop);
  await harness.apply(manifest);
  await harness.grant('doctor', rights);
  const send = withoutStreams(harness.sendAs('doctor'));
  const transport: Transport = {
    send: (request) =>
      lacks.some((word) => request.path.includes(word))
        ? Promise.resolve(failureAnswer(404, 'NotFound'))
        : send(request),
    close: () => Promise.resolve(),
  };
  const session = {
    caller: { transport, userAgent: 'test' },
    namespace: 'shop',
    isNamespaceSet: true,
  } as unknown as Session;
  return {
    ...harness,
    selector: async () => (await harness.server.api.get<Service>(path)).spec.selector,
    async doctor(request, own = {}) {
      let [out, err] = ['', ''];
      const world: World = {
        ...silentWorld,
        now: harness.clock.now,
        write: (text) => (out += text),
        writeError: (text) => (err += text),
        ...own,
      };
      const { findings } = await runOnCluster(
        { isEverywhere: false, ...request },
        { session, world },
      );
      return { out, err, codes: findings.map(({ code }) => code) };
    },
  };
}

/** Answers one after another, then the end of the input. */
const answering = (...answers: readonly string[]): Partial<World> => {
  const left = [...answers];
  return { readLine: () => Promise.resolve(left.shift()) };
};

test('doctor --fix --yes applies patches, and says what remains', limit, async (t) => {
  const { doctor, selector } = await startShop(t);
  const { out, codes } = await doctor({ fix: true, yes: true });
  assert.deepEqual(await selector(), { app: 'web' });
  assert.match(out, /- {5}app: wbe\n.*\+ {5}app: web\n/);
  assert.match(out, /\n1 applied, 0 not\n/);
  // The pod has not started: that is no longer hidden by the selector.
  assert.ok(!codes.includes('FL0101'), codes.join());
});

test('doctor --fix changes nothing that it is not told to', limit, async (t) => {
  const { doctor, selector } = await startShop(t);
  for (const answers of [['n'], ['q'], [], ['what?', 'N']]) {
    const { out, codes } = await doctor({ fix: true }, answering(...answers));
    assert.match(out, /0 applied, 1 not/);
    assert.deepEqual(codes.slice(0, 1), ['FL0101']);
    assert.deepEqual(await selector(), { app: 'wbe' });
  }
  await doctor({ fix: true }, answering('y'));
  assert.deepEqual(await selector(), { app: 'web' });
});

test('doctor --fix shows an object again that was changed meanwhile', limit, async (t) => {
  const { doctor, selector, server } = await startShop(t);
  let questions = 0;
  const readLine = async (): Promise<string> => {
    questions += 1;
    if (questions === 1) await server.api.patch(path, { metadata: { labels: { a: 'b' } } });
    return 'y';
  };
  const { out } = await doctor({ fix: true }, { readLine });
  assert.equal(questions, 2);
  assert.match(out, /It was changed meanwhile:/);
  assert.deepEqual(await selector(), { app: 'web' });
});

test('doctor --fix names the right that is missing', limit, async (t) => {
  const { doctor, selector } = await startShop(t, { rights: reading });
  const { out } = await doctor({ fix: true, yes: true });
  const user = accountUser('doctor');
  assert.ok(
    out.includes(`Not applied: user "${user}" needs the right to patch services in namespace shop`),
    out,
  );
  assert.deepEqual(await selector(), { app: 'wbe' });
});

test('doctor --fix without a terminal wants --yes, before it reads', limit, async (t) => {
  const { doctor, lines } = await startShop(t);
  const before = lines.length;
  await assert.rejects(doctor({ fix: true }), (error: unknown) => error instanceof UsageError);
  assert.equal(lines.length, before);
});

test('doctor says which lists were refused, and goes on', limit, async (t) => {
  const few = reading.filter(({ group }) => group !== 'discovery.k8s.io');
  const { doctor } = await startShop(t, { rights: few });
  const { out, err, codes } = await doctor({});
  assert.equal(
    err,
    `Cannot read endpointSlices: user "${accountUser('doctor')}" needs the right to list endpointslices.discovery.k8s.io in namespace shop\n`,
  );
  assert.match(out, /checks skipped, because these could not be read: endpointSlices/);
  assert.deepEqual(codes, ['FL0101']);
});

test('doctor --watch says what appears and what goes', limit, async (t) => {
  const { doctor, server } = await startShop(t);
  const interrupt = new AbortController();
  let out = '';
  let wanted: { readonly text: RegExp; readonly seen: () => void } | undefined;
  const until = (text: RegExp): Promise<void> =>
    new Promise((resolve) => {
      wanted = { text, seen: resolve };
      if (text.test(out)) resolve();
    });
  const write = (text: string): void => {
    out += text;
    if (wanted?.text.test(out) === true) wanted.seen();
  };
  const ran = doctor({ watch: true }, { write, interrupted: interrupt.signal });
  await until(/1 error/);
  await server.api.patch(path, { spec: { selector: { app: 'web' } } });
  await until(/gone {2}error {3}FL0101 {2}service shop\/web: /);
  await server.api.patch(path, { spec: { selector: { app: 'wob' } } });
  await until(/new {3}error {3}FL0101 {2}service shop\/web: /);
  interrupt.abort();
  await ran;
});

test('doctor needs the rights of its role, and no others', limit, async (t) => {
  const { doctor, lines } = await startShop(t, { rights: doctorRights });
  const interrupt = new AbortController();
  const all = { isEverywhere: true } as const;
  const ran = doctor({ ...all, watch: true }, { interrupted: interrupt.signal });
  const isDone = (): boolean => unused(lines, 'doctor', doctorRights).length === 0;
  while (!isDone() && !t.signal.aborted) await new Promise((resolve) => setImmediate(resolve));
  interrupt.abort();
  const { err } = await ran;
  assert.equal(err, '');
  assert.deepEqual(refusals(lines, 'doctor'), []);
});

test('doctor works with a server that has no extras, and no ServiceCIDRs', limit, async (t) => {
  const { doctor } = await startShop(t, { lacks: ['fairlead.dev', 'servicecidrs'] });
  const { out, err, codes } = await doctor({ isEverywhere: true });
  assert.equal(err, '');
  assert.equal(codes[0], 'FL0101');
  assert.match(out, /1 check skipped, because these could not be read: serviceCIDRs/);
});

test('doctor finds a proxy that works by older endpoints', limit, async (t) => {
  const shop = await startShop(t);
  const parts = { group: 'parts.fairlead.dev', plural: 'parts' };
  await shop.grant('proxy', [
    may('get', parts, { subresource: 'questions' }),
    may('create', parts, { subresource: 'answers' }),
  ]);
  const stopping = new AbortController();
  const late = { applied: { services: 1, slices: 1 }, waitingMs: 9000, mode: 'nftables' };
  const ended = answerQuestions(
    {
      caller: {
        transport: { send: shop.sendAs('proxy'), close: () => Promise.resolve() },
        userAgent: 'test',
      },
      ...{ clock: systemClock, log: silentLog, part: { kind: 'proxy', node: 'n1' } },
      handlers: [answerTo(positionQuestion, () => late)],
    },
    stopping.signal,
  );
  t.after(() => ended);
  for (;;) {
    const { out, codes } = await shop.doctor({});
    // It connects when it gets to it.
    if (!codes.includes('FL0906')) continue;
    assert.match(out, /node n1\n {2}error {3}FL0906 {2}The node proxy on n1 lacks .* for 9 s/);
    break;
  }
  stopping.abort();
});
