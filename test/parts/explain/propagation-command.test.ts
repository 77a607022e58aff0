// `fairlead propagation` against a real API server, with parts that are current, that lag, that do not answer, and that disconnect.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import { withExplainSession } from '../../../src/cli/explain/explain-session.ts';
import type { PropagationFlags } from '../../../src/cli/propagation/propagation-flags.ts';
import { createPropagationView } from '../../../src/cli/propagation/propagation-view.ts';
import { followPropagation, type Outcome } from '../../../src/cli/propagation/run-follow.ts';
import { answerQuestions, answerTo } from '../../../src/client/parts/answer-questions.ts';
import type { Terminal, World } from '../../../src/flags/command.ts';
import { systemClock } from '../../../src/host/clock.ts';
import { createFakeClock } from '../../../src/host/fake-clock.ts';
import { parsePartName } from '../../../src/kinds/part/names.ts';
import {
  type Position,
  positionQuestion,
  type Revisions,
} from '../../../src/kinds/part/position.ts';
import { silentLog } from '../../../src/observe/log.ts';
import type { Propagation } from '../../../src/propagation/propagation.ts';
import { silentWorld } from '../../lanes/silent-world.ts';
import { kubeconfigText } from '../harness/kubectl.ts';
import { testCredentials } from '../harness/memory-server.ts';
import { type PastWorld, startPastWorld } from '../harness/past-world.ts';

const limit = { timeout: 60_000 };
const services = '/api/v1/namespaces/default/services';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const service = '{metadata: {name: web}, spec: {ports: [{port: 80}]}}';
const slice =
  '{metadata: {name: web-x, labels: {kubernetes.io/service-name: web}}, addressType: IPv4, ports: [{port: 8080}], endpoints: [{addresses: [10.244.1.5]}]}';

type Answer = (requested: Revisions) => Position | Promise<Position>;
const current: Answer = (requested) => ({ applied: requested, ageMs: 1200, mode: 'nftables' });
const lagging: Answer = ({ services, slices }) => ({
  ...{ applied: { services, slices: slices - 1 }, waitingMs: 1300, mode: 'nftables' },
});
const silent: Answer = () => new Promise(() => {});

type Part = { answer: Answer; readonly stop: () => Promise<void> };

/** Connected when it resolves. */
async function startPart(
  t: TestContext,
  { server }: PastWorld,
  name: string,
  answer: Answer,
): Promise<Part> {
  const part = parsePartName(name);
  assert.ok(part !== undefined);
  const stopping = new AbortController();
  const send = createLocalCall(server.server.handle, { user: 'admin', groups: ['system:masters'] });
  const connected = { answer } as { answer: Answer; stop: () => Promise<void> };
  const ended = answerQuestions(
    {
      ...{ part, clock: systemClock, log: silentLog },
      caller: { transport: { send, close: () => Promise.resolve() }, userAgent: 'test' },
      handlers: [answerTo(positionQuestion, (requested) => connected.answer(requested))],
    },
    stopping.signal,
  );
  connected.stop = async () => {
    stopping.abort();
    await ended;
  };
  t.after(connected.stop);
  for (;;) {
    const { status } = await server.api.post<{ status: { answers?: readonly { part: string }[] } }>(
      '/apis/parts.fairlead.dev/v1alpha1/questions',
      { spec: { question: 'Position', spec: { services: 1, slices: 1 }, timeoutMilliseconds: 50 } },
    );
    if (status.answers?.some((one) => one.part === name)) return connected;
  }
}

async function startWeb(t: TestContext): Promise<PastWorld> {
  const world = await startPastWorld(t);
  await world.apply(service, services);
  await world.apply(slice, slices);
  return world;
}

const reportOf = (out: string): Propagation => JSON.parse(out) as Propagation;

test('propagation shows what each part serves, and why one does not answer', limit, async (t) => {
  const world = await startWeb(t);
  await startPart(t, world, 'dns.machine', current);
  await startPart(t, world, 'proxy.a', current);
  await startPart(t, world, 'proxy.b', lagging);
  await startPart(t, world, 'proxy.c', silent);
  await startPart(t, world, 'proxy.d', () =>
    Promise.reject(new Error('rules\u001b[2J cannot be read')),
  );
  await world.server.api.post('/api/v1/nodes', { metadata: { name: 'e' } });
  await world.server.api.patch('/api/v1/nodes/e/status', {
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const { code, out, err } = await world.run('propagation svc/web');
  assert.deepEqual([code, err], [0, '']);
  const { revision } = reportOf((await world.run('propagation svc/web -o json')).out);
  const older = String(Number(revision) - 1);
  assert.deepEqual(
    out.split('\n').map((line) => line.split(/ {2,}/)),
    [
      [`Service default/web, revision ${revision}: in effect in 2 of 5 parts`],
      [''],
      ['PART', 'NODE', 'MODE', 'STATE', 'REVISION', 'SINCE', 'BEHIND'],
      ['dns', 'machine', 'nftables', 'current', revision, '11:59:58.800'],
      ['proxy', 'a', 'nftables', 'current', revision, '11:59:58.800'],
      ['proxy', 'b', 'nftables', 'behind', older, '-', '1 change, 1300 ms'],
      ['proxy', 'c', '-', 'no answer', '-', '-', 'no answer'],
      ['proxy', 'd', '-', 'no answer', '-', '-', 'Error: rules\\x1b[2J cannot be read'],
      [''],
      ['nodes without a proxy of Fairlead: e'],
      [''],
    ],
  );
});

test('propagation -o json has the promised form', limit, async (t) => {
  const world = await startWeb(t);
  await startPart(t, world, 'proxy.a', current);
  const { out } = await world.run('propagation svc/default/web -o json -n elsewhere');
  const { revision, ...rest } = reportOf(out);
  assert.deepEqual(rest, {
    ...{ apiVersion: 'fairlead.dev/v1', kind: 'Propagation', namespace: 'default', service: 'web' },
    ...{ time: '2026-01-01T12:00:00.000Z', state: 'current', nodesWithoutProxy: [] },
    parts: [
      {
        ...{ kind: 'proxy', node: 'a', mode: 'nftables', state: 'current', revision },
        since: '2026-01-01T11:59:58.800Z',
      },
    ],
  });
});

test('propagation says in one sentence why it cannot', limit, async (t) => {
  const world = await startWeb(t);
  const cases: readonly (readonly [line: string, sentence: string])[] = [
    ['svc/nope', 'Error from server (NotFound): services "nope" not found\n'],
    ['web', 'error: "web" is not a Service, want svc/NAME or svc/NAMESPACE/NAME\n'],
    ['svc/web -n ../x', 'error: --namespace: "../x" is not the name of a namespace\n'],
    [
      'svc/web --timeout 1s',
      'error: --timeout: there is nothing to wait for, want --wait with it\n',
    ],
    [
      'svc/web --only-connected',
      'error: --only-connected: there is nothing to wait for, want --wait with it\n',
    ],
    [
      'svc/web --as eve',
      'Error from server (Forbidden): propagations.parts.fairlead.dev "web" is forbidden: User "eve" cannot get resource "propagations" in API group "parts.fairlead.dev" in the namespace "default"\n',
    ],
  ];
  for (const [line, sentence] of cases) {
    assert.deepEqual(await world.run(`propagation ${line}`), { code: 2, out: '', err: sentence });
  }
  world.link.cut();
  const { code, out } = await world.run('propagation svc/web');
  assert.deepEqual([code, out], [2, '']);
});

/** Answers every request in the same way, as servers without the resource do. */
async function serveAnswer(
  t: TestContext,
  world: PastWorld,
  code: number,
  message: string,
): Promise<void> {
  const { certificate: cert, privateKey: key } = testCredentials().server;
  const server = createServer({ cert, key }, (request, response) => {
    const isDiscovery = request.url === '/apis/parts.fairlead.dev/v1alpha1';
    const status = isDiscovery ? 404 : code;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify({
        kind: 'Status',
        code: status,
        message,
        reason: status === 404 ? 'NotFound' : 'Forbidden',
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  writeFileSync(world.kubeconfig, kubeconfigText((server.address() as AddressInfo).port));
}

test('propagation and history say that another API server does not know', limit, async (t) => {
  const world = await startPastWorld(t);
  const answers = [
    [404, 'the server could not find the requested resource'],
    [
      403,
      'User "eve" cannot get resource "x" in API group "history.fairlead.dev" at the cluster scope',
    ],
  ] as const;
  for (const [code, message] of answers) {
    await serveAnswer(t, world, code, message);
    for (const flags of ['', ' --watch', ' --wait', ' -o json']) {
      assert.deepEqual(await world.run(`propagation svc/web${flags}`), {
        code: 2,
        out: '',
        err: 'This API server does not know what its proxies serve: only servers of Fairlead do\n',
      });
    }
    for (const flags of ['', ' --at 10m']) {
      assert.deepEqual(await world.run(`history svc/web${flags}`), {
        code: 2,
        out: '',
        err: 'This API server keeps no history: only servers of Fairlead do\n',
      });
    }
  }
});

test('commands that explain say that a server is none of Kubernetes', limit, async (t) => {
  const world = await startPastWorld(t);
  const { certificate: cert, privateKey: key } = testCredentials().server;
  const server = createServer({ cert, key }, (_request, response) =>
    response.end('<html>Welcome</html>'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  writeFileSync(world.kubeconfig, kubeconfigText((server.address() as AddressInfo).port));
  for (const command of ['propagation svc/web', 'history svc/web', 'trace svc/web --at 1m']) {
    assert.deepEqual(await world.run(command), {
      ...{ code: 2, out: '' },
      err: 'The server does not answer as a Kubernetes API server does\n',
    });
  }
});

test('commands that explain are one sentence when the connection ends', limit, async (t) => {
  const world = await startWeb(t);
  await startPart(t, world, 'proxy.a', current);
  for (const command of ['history svc/web', 'propagation svc/web', 'trace svc/web:80 --at 0']) {
    for (let rounds = 0; rounds < 30; rounds += 3) {
      const running = world.run(command);
      for (let round = 0; round < rounds; round += 1)
        await new Promise((resolve) => setImmediate(resolve));
      world.link.cut();
      const { code, out, err } = await running;
      world.link.mend();
      if (code !== 0) assert.deepEqual([code, out], [2, ''], err);
      assert.match(err, /^(?:[^\n]+\n)?$/);
    }
  }
});

type Followed = {
  /** What has been printed. */
  readonly out: () => string;
  readonly err: () => string;
  /** Advances the clock until it has been printed. */
  readonly printed: (pattern: RegExp) => Promise<void>;
  readonly interrupt: () => void;
  readonly closeOutput: () => void;
  readonly outcome: Promise<Outcome | undefined>;
  /** Advances the clock until it has ended. */
  readonly ended: () => Promise<Outcome | undefined>;
};

/** Far more than any test takes. */
const maxRounds = 5000;

/** A command that goes on, on a clock that the test moves. */
function follow(world: PastWorld, flags: PropagationFlags, terminal?: Terminal): Followed {
  const clock = createFakeClock(world.timeMs);
  const interrupted = new AbortController();
  let [out, err, isOutputClosed, isOver] = ['', '', false, false];
  const own: World = {
    ...silentWorld,
    write: (text) => (out += text),
    writeError: (text) => (err += text),
    interrupted: interrupted.signal,
    isOutputClosed: () => isOutputClosed,
    ...(terminal === undefined ? {} : { terminal }),
  };
  const outcome = withExplainSession({ kubeconfig: world.kubeconfig }, own, ({ caller }) => {
    const service = { namespace: 'default', name: 'web' };
    const view = createPropagationView(flags, own);
    return followPropagation({ caller, service, flags, world: own, view }, clock);
  }).finally(() => {
    isOver = true;
  });
  const timersOfPause = flags.wait === true ? 2 : 1;
  const until = async (isDone: () => boolean): Promise<void> => {
    for (let round = 0; !isDone(); round += 1) {
      assert.ok(round < maxRounds, `it does not come to that:\n${out}${err}`);
      // Time passes while it pauses, and not while it reads: the network is not on this clock.
      if (clock.waiting() >= timersOfPause) await clock.advance(100);
      else await clock.settle();
    }
  };
  return {
    ...{ out: () => out, err: () => err, outcome },
    printed: (pattern) => until(() => pattern.test(out)),
    interrupt: () => interrupted.abort(),
    closeOutput: () => {
      isOutputClosed = true;
    },
    async ended() {
      await until(() => isOver);
      return outcome;
    },
  };
}

const changeSlice = (world: PastWorld, address: string): Promise<unknown> =>
  world.server.api.patch(`${slices}/web-x`, { endpoints: [{ addresses: [address] }] });

test('propagation --watch says what changes, a line for each', limit, async (t) => {
  const world = await startWeb(t);
  const proxy = await startPart(t, world, 'proxy.a', current);
  const watching = follow(world, { watch: true });
  await watching.printed(/in effect in the one part\n/);
  proxy.answer = lagging;
  await changeSlice(world, '10.244.1.6');
  await watching.printed(/ {2}revision \d+\n.* {2}behind: proxy a \(\d changes?, 1300 ms\)\n/);
  proxy.answer = current;
  await watching.printed(/ {2}revision \d+ in effect: proxy a\n.*in effect in all parts\n/);
  const other = await startPart(t, world, 'dns.machine', current);
  await watching.printed(/ {2}connected: dns machine\n/);
  await other.stop();
  await watching.printed(/ {2}no longer connected: dns machine\n/);
  await world.server.api.delete(`${services}/web`);
  await watching.printed(/ {2}the Service was deleted\n$/);
  assert.equal(await watching.ended(), undefined);
});

test(
  'propagation --watch survives a server that is away, and waits for its parts',
  limit,
  async (t) => {
    const world = await startWeb(t);
    const proxy = await startPart(t, world, 'proxy.a', current);
    const watching = follow(world, { watch: true });
    await watching.printed(/in effect in the one part\n/);
    world.link.cut();
    await watching.printed(/the API server does not answer, trying again: /);
    await proxy.stop();
    world.link.mend();
    await watching.printed(
      /the API server answers again\n.*no answer: proxy a \(not connected to the server yet\)\n/,
    );
    await startPart(t, world, 'proxy.a', current);
    await watching.printed(/in effect: proxy a\n.*in effect in all parts\n$/);
    assert.equal(watching.out().match(/does not answer, trying again/g)?.length, 1);
    watching.interrupt();
    assert.equal(await watching.ended(), undefined);
  },
);

test('propagation --watch -o json is an object a line', limit, async (t) => {
  const world = await startWeb(t);
  await startPart(t, world, 'proxy.a', current);
  const watching = follow(world, { watch: true, output: 'json' });
  await watching.printed(/\n/);
  await changeSlice(world, '10.244.1.6');
  await watching.printed(/AllCurrent/);
  watching.interrupt();
  await watching.ended();
  const lines = watching
    .out()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string; type?: string });
  assert.deepEqual(
    lines.map(({ kind, type }) => type ?? kind),
    ['Propagation', 'RevisionChanged', 'PartCurrent', 'AllCurrent'],
  );
});

test('propagation --watch repaints at a terminal, within its size', limit, async (t) => {
  const world = await startWeb(t);
  for (let at = 0; at < 12; at += 1) await startPart(t, world, `proxy.node-${at}`, current);
  const watching = follow(world, { watch: true, verbose: true }, { columns: 40, rows: 14 });
  await watching.printed(/\n/);
  await changeSlice(world, '10.244.1.6');
  const up = String.fromCharCode(27);
  await watching.printed(new RegExp(`${up}\\[\\d+A[^]*${up}\\[\\d+A`));
  watching.interrupt();
  await watching.ended();
  const colours = new RegExp(`${up}\\[\\d+m`, 'g');
  const [first = ''] = watching.out().split(new RegExp(`${up}\\[\\d+A`));
  const lines = first.replaceAll(colours, '').split('\n');
  assert.ok(lines.length <= 14, `${lines.length} lines`);
  for (const line of lines) assert.ok(line.length < 40, line);
  assert.match(first, /and 6 more/);
});

test('propagation --watch ends when nothing reads its output', limit, async (t) => {
  const world = await startWeb(t);
  const watching = follow(world, { watch: true });
  await watching.printed(/\n/);
  watching.closeOutput();
  assert.equal(await watching.ended(), undefined);
});

test('propagation --wait ends when all parts are current', limit, async (t) => {
  const world = await startWeb(t);
  const proxy = await startPart(t, world, 'proxy.a', lagging);
  const waiting = follow(world, { wait: true });
  await world.server.api.post('/apis/parts.fairlead.dev/v1alpha1/questions', {
    spec: { question: 'Position', spec: { services: 1, slices: 1 } },
  });
  proxy.answer = current;
  assert.equal(await waiting.ended(), undefined);
  assert.match(waiting.out(), /^Service default\/web, revision \d+: in effect in the one part\n/);
});

test('propagation --wait fails after its time, and says what is behind', limit, async (t) => {
  const world = await startWeb(t);
  await startPart(t, world, 'proxy.a', lagging);
  const waiting = follow(world, { wait: true, timeout: 3000 });
  assert.deepEqual(await waiting.ended(), {
    kind: 'failed',
    sentence:
      'The changes of Service default/web are not in effect everywhere after 3s: behind: proxy a (1 change, 1300 ms)',
  });
  assert.match(waiting.out(), /in effect in 0 of 1 parts/);
  const { code, err } = await world.run('propagation svc/web --wait --timeout 1ms');
  assert.equal(code, 1);
  assert.match(
    err,
    /^The changes of Service default\/web are not in effect everywhere after 1ms[^\n]*\n$/,
  );
});

test(
  'propagation --wait is not content with no parts, nor with nodes without a proxy',
  limit,
  async (t) => {
    const world = await startWeb(t);
    const alone = await follow(world, { wait: true, timeout: 3000 }).ended();
    assert.match(
      alone?.kind === 'failed' ? alone.sentence : '',
      /after 3s: no proxy or DNS server of Fairlead is connected$/,
    );
    await startPart(t, world, 'proxy.a', current);
    await world.server.api.post('/api/v1/nodes', { metadata: { name: 'e' } });
    await world.server.api.patch('/api/v1/nodes/e/status', {
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    const partly = await follow(world, { wait: true, timeout: 3000 }).ended();
    assert.match(
      partly?.kind === 'failed' ? partly.sentence : '',
      /after 3s: no proxy of Fairlead on: e$/,
    );
    assert.equal(await follow(world, { wait: true, onlyConnected: true }).ended(), undefined);
  },
);

test('propagation --wait waits for slices that say what the pods are', limit, async (t) => {
  const world = await startWeb(t);
  await startPart(t, world, 'proxy.a', current);
  await world.server.api.patch(`${services}/web`, { spec: { selector: { app: 'web' } } });
  const pods = '/api/v1/namespaces/default/pods';
  await world.apply(
    '{metadata: {name: web-1, labels: {app: web}}, spec: {nodeName: a, containers: [{name: c, image: x}]}}',
    pods,
  );
  const pod = await world.server.api.patch<{ metadata: { uid: string } }>(`${pods}/web-1/status`, {
    status: {
      phase: 'Running',
      podIP: '10.244.1.9',
      podIPs: [{ ip: '10.244.1.9' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  });
  const stale = await follow(world, { wait: true, timeout: 3000 }).ended();
  assert.match(
    stale?.kind === 'failed' ? stale.sentence : '',
    /after 3s: its endpoint slices do not say yet what its pods are$/,
  );
  const waiting = follow(world, { wait: true });
  await world.server.api.patch(`${slices}/web-x`, {
    metadata: {
      labels: { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' },
    },
    endpoints: [
      {
        addresses: ['10.244.1.9'],
        conditions: { ready: true, serving: true, terminating: false },
        targetRef: { kind: 'Pod', name: 'web-1', namespace: 'default', uid: pod.metadata.uid },
      },
    ],
  });
  assert.equal(await waiting.ended(), undefined);
});

test(
  'propagation --wait fails when the Service is deleted, and ends with Ctrl-C',
  limit,
  async (t) => {
    const world = await startWeb(t);
    await startPart(t, world, 'proxy.a', lagging);
    const [waiting, interrupted] = [follow(world, { wait: true }), follow(world, { wait: true })];
    interrupted.interrupt();
    assert.deepEqual(await interrupted.ended(), { kind: 'interrupted' });
    const both = follow(world, { wait: true, watch: true });
    await both.printed(/in effect in 0 of 1 parts/);
    await world.server.api.delete(`${services}/web`);
    const deleted = { kind: 'failed', sentence: 'Service default/web was deleted' };
    assert.deepEqual(await both.ended(), deleted);
    assert.ok(
      [deleted.sentence].includes(((await waiting.ended()) as { sentence: string }).sentence),
    );
  },
);

test('two watchers see the same changes', limit, async (t) => {
  const world = await startWeb(t);
  await startPart(t, world, 'proxy.a', current);
  const both = [follow(world, { watch: true }), follow(world, { watch: true })];
  for (const one of both) await one.printed(/in effect in the one part\n/);
  await changeSlice(world, '10.244.1.6');
  for (const one of both) await one.printed(/ {2}revision \d+\n.*\n.*in effect in all parts\n$/);
  for (const one of both) {
    one.interrupt();
    assert.equal(await one.ended(), undefined);
  }
});
