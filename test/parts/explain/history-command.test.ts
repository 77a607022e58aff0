// `fairlead history` against a server that keeps history: what it says is what happened, with the rights that the user has.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withExplainSession } from '../../../src/cli/explain/explain-session.ts';
import { buildTimeline } from '../../../src/history/build-timeline.ts';
import type { History, HistoryState } from '../../../src/history/history.ts';
import { readServicePast } from '../../../src/history/read-service-past.ts';
import { silentWorld } from '../../lanes/silent-world.ts';
import { type PastWorld, startPastWorld, worldStart } from '../harness/past-world.ts';

const limit = { timeout: 60_000 };
const services = '/api/v1/namespaces/default/services';
const pods = '/api/v1/namespaces/default/pods';
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
const secondMs = 1000;

const service =
  '{metadata: {name: web}, spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}}';

const pod = (name: string): string => `
metadata: {name: ${name}, labels: {app: web}}
spec:
  nodeName: n1
  containers: [{name: c, image: x, env: [{name: PASSWORD, value: hunter2}]}]
`;

const endpoint = (pod: string, address: string, ready: boolean, terminating = false) => ({
  addresses: [address],
  nodeName: 'n1',
  targetRef: { kind: 'Pod', name: pod, namespace: 'default' },
  conditions: { ready, serving: ready || terminating, terminating },
});

const slice = JSON.stringify({
  metadata: { name: 'web-x', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  endpoints: [endpoint('web-1', '10.244.1.5', true)],
});

const setEndpoints = (world: PastWorld, ...endpoints: readonly unknown[]): Promise<unknown> =>
  world.server.api.patch(`${slices}/web-x`, { endpoints });

async function setReady(world: PastWorld, name: string, ready: boolean): Promise<void> {
  const status = ready ? 'True' : 'False';
  await world.server.api.patch(`${pods}/${name}/status`, {
    status: {
      phase: 'Running',
      conditions: [
        {
          type: 'Ready',
          status,
          reason: ready ? '' : 'ContainersNotReady',
          message: ready ? '' : 'probe failed',
        },
      ],
    },
  });
}

/** One second between the steps. */
async function live(world: PastWorld, steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const step of steps) {
    await step();
    world.timeMs += secondMs;
  }
}

async function rollOut(world: PastWorld): Promise<void> {
  const { api } = world.server;
  await live(world, [
    () => world.apply('{metadata: {name: n1}}', '/api/v1/nodes'),
    () => world.apply(service, services),
    () => world.apply(pod('web-1'), pods),
    () => setReady(world, 'web-1', true),
    () => world.apply(slice, slices),
    () => setReady(world, 'web-1', false),
    () => setEndpoints(world, endpoint('web-1', '10.244.1.5', false)),
    () => world.apply(pod('web-2'), pods),
    () =>
      setEndpoints(
        world,
        endpoint('web-1', '10.244.1.5', false),
        endpoint('web-2', '10.244.1.6', true),
      ),
    () => api.patch(`${services}/web`, { spec: { selector: { app: 'wbe' } } }),
    () => setEndpoints(world),
    () => api.patch('/api/v1/nodes/n1', { spec: { unschedulable: true } }),
    () => api.delete(`${pods}/web-1`),
    () => api.delete(`${services}/web`),
    () => world.apply(service, services),
    () => setEndpoints(world, endpoint('web-2', '10.244.1.6', true)),
  ]);
}

/** Without the times. */
const linesIn = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => /^\d\d:\d\d/.test(line))
    .map((line) => line.slice(14));

const expected = [
  'at first: there is no such Service',
  'node n1 created, by kubernetes-admin',
  /^Service created: ClusterIP 10\.96\.\d+\.\d+; port http 80\/TCP to 8080; selector app=web, by kubernetes-admin$/,
  'pod web-1 created on node n1, by kubernetes-admin',
  'pod web-1 became ready, by kubernetes-admin',
  'endpoint 10.244.1.5 (pod web-1, node n1) added, ready, by kubernetes-admin',
  'first endpoint is ready: the Service answers',
  'pod web-1 became not ready: ContainersNotReady: probe failed, by kubernetes-admin',
  'endpoint 10.244.1.5 (pod web-1, node n1) became not ready, by kubernetes-admin',
  'last ready endpoint lost: nothing answers',
  'pod web-2 created on node n1, by kubernetes-admin',
  'endpoint 10.244.1.6 (pod web-2, node n1) added, ready, by kubernetes-admin',
  'answers again, after 2 s without an endpoint',
  'selector changed from app=web to app=wbe, by kubernetes-admin',
  'endpoint 10.244.1.5 (pod web-1, node n1) removed, and 1 more likewise, by kubernetes-admin',
  'last ready endpoint lost: nothing answers',
  'node n1 takes no new pods: cordoned, by kubernetes-admin',
  'pod web-1 is terminating, with 30 s to end, by kubernetes-admin',
  'Service deleted, by kubernetes-admin',
  /^Service created again: ClusterIP /,
  'endpoint 10.244.1.6 (pod web-2, node n1) added, ready, by kubernetes-admin',
  'answers again, after 5 s without an endpoint',
];

function assertLines(text: string, wanted: readonly (string | RegExp)[]): void {
  const found = linesIn(text);
  for (const [at, one] of wanted.entries()) {
    if (typeof one === 'string') assert.equal(found[at], one);
    else assert.match(found[at] ?? '', one);
  }
  assert.equal(found.length, wanted.length);
}

test('history tells what happened to a Service, in order', limit, async (t) => {
  const world = await startPastWorld(t);
  await rollOut(world);
  const { code, out, err } = await world.run('history svc/web');
  assert.deepEqual([code, err], [0, '']);
  assertLines(out, expected);
  const [title, shortened] = out.split('\n');
  assert.match(title ?? '', /^Service default\/web from 2026-01-01 \S+ to 2026-01-01 \S+ \(\S+\)$/);
  assert.match(shortened ?? '', /^history is known since 2026-01-01 .* only$/);
  assert.match(out, /\n22 changes; 2 outages, 7 s in all; now 1 of 1 endpoint ready\n$/);
  const { outages, end } = JSON.parse((await world.run('history svc/web -o json')).out) as History;
  const at = (seconds: number): string => new Date(worldStart + seconds * secondMs).toISOString();
  assert.deepEqual(outages, [
    { began: at(6), ended: at(8), milliseconds: 2000, cause: 'no-endpoints' },
    { began: at(10), ended: at(15), milliseconds: 5000, cause: 'no-endpoints' },
  ]);
  assert.deepEqual(
    end.endpoints.map(({ address, pod, ready }) => [address, pod, ready]),
    [['10.244.1.6', 'web-2', true]],
  );
  assert.deepEqual(
    end.pods.map(({ name, status }) => [name, status]),
    [
      ['web-1', 'Terminating'],
      ['web-2', 'Pending'],
    ],
  );
});

test('history --since begins with what there was then', limit, async (t) => {
  const world = await startPastWorld(t);
  await rollOut(world);
  // Fifteen steps and their seconds ago, web-1 was the only endpoint.
  const { out } = await world.run('history svc/web --since 10500ms');
  assert.match(linesIn(out)[0] ?? '', /^at first: ClusterIP .*; 1 of 1 endpoint ready$/);
  assert.deepEqual(linesIn(out).slice(1, 3), expected.slice(8, 10));
  assert.doesNotMatch(out, /history is known/);
  const by = new Date(world.timeMs - 10_500).toISOString();
  assert.equal((await world.run(`history svc/web --since ${by}`)).out, out);
});

test('history --at shows the Service, its endpoints and pods of a moment', limit, async (t) => {
  const world = await startPastWorld(t);
  await rollOut(world);
  const at = (seconds: number): string => new Date(worldStart + seconds * secondMs).toISOString();
  const both = await world.run(`history svc/web --at ${at(8.5)}`);
  assert.equal(both.code, 0);
  const rows = both.out.split('\n').map((line) => line.split(/ {2,}/));
  assert.deepEqual(rows.slice(2, 7), [
    ['1 of 2 endpoints ready'],
    [''],
    ['ADDRESS', 'POD', 'NODE', 'ZONE', 'STATE', 'RESTARTS'],
    ['10.244.1.5', 'web-1', 'n1', '-', 'not ready', '0'],
    ['10.244.1.6', 'web-2', 'n1', '-', 'ready', '0'],
  ]);
  const gone = await world.run(`history svc/web --at ${at(13.5)}`);
  assert.match(gone.out, /^There was no Service default\/web at 2026-01-01 [^\n]*\n$/);
  assert.equal(gone.code, 0);
  const json = await world.run(`history svc/default/web --at ${at(11)} -n elsewhere -o json`);
  const { kind, time, state } = JSON.parse(json.out) as HistoryState;
  assert.deepEqual([kind, time, state.endpoints], ['HistoryState', at(11), []]);
  assert.deepEqual(state.service?.selector, { app: 'wbe' });
  assert.deepEqual(
    state.pods.map(({ name }) => name),
    [],
  );
});

test('history of a Service that is deleted tells until when', limit, async (t) => {
  const world = await startPastWorld(t);
  await live(world, [
    () => world.apply(service, services),
    () => world.apply(slice, slices),
    () => world.server.api.delete(`${services}/web`),
  ]);
  const { code, out } = await world.run('history svc/web');
  assert.equal(code, 0);
  assert.equal(linesIn(out).at(-1), 'Service deleted, by kubernetes-admin');
  assert.match(out, /\n4 changes; no outage; there is no such Service now\n$/);
});

test('history never contains what a pod is given to know', limit, async (t) => {
  const world = await startPastWorld(t);
  await rollOut(world);
  for (const flags of ['', ' -v', ' -o json', ' -o yaml', ' --at 5s -o json']) {
    const { out, err } = await world.run(`history svc/web${flags}`);
    assert.doesNotMatch(out + err, /hunter2|PASSWORD/);
  }
});

async function allow(world: PastWorld, user: string, resources: readonly string[]): Promise<void> {
  const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  const group = (resource: string): string =>
    resource === 'endpointslices' ? 'discovery.k8s.io' : '';
  await world.server.api.post(`${path}/roles`, {
    metadata: { name: user },
    rules: resources.map((one) => ({
      apiGroups: [group(one)],
      resources: [one],
      verbs: ['get', 'list'],
    })),
  });
  await world.server.api.post(`${path}/rolebindings`, {
    metadata: { name: user },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: user },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  });
}

test('history shows what the user may read, and says what is missing', limit, async (t) => {
  const world = await startPastWorld(t);
  await rollOut(world);
  await allow(world, 'eve', ['services', 'endpointslices']);
  const { code, out, err } = await world.run('history svc/web --as eve');
  assert.equal(code, 0);
  assertLines(
    out,
    expected.filter((one) => typeof one !== 'string' || !/^(pod|node) /.test(one)),
  );
  assert.deepEqual(err.split('\n'), [
    'Cannot read pods: user "eve" needs the right to list pods in namespace default',
    'Cannot read nodes: user "eve" needs the right to get nodes in all namespaces',
    '',
  ]);
  await allow(world, 'mallory', ['pods']);
  assert.deepEqual(await world.run('history svc/web --as mallory'), {
    code: 2,
    out: '',
    err: 'Error from server (Forbidden): services "web" is forbidden: User "mallory" cannot get resource "services" in API group "" in the namespace "default"\n',
  });
});

test('history says in one sentence why it cannot', limit, async (t) => {
  const world = await startPastWorld(t);
  const cases: readonly (readonly [line: string, sentence: RegExp])[] = [
    [
      'svc/web',
      /^error: services "web" not found in namespace "default", and there was none since [^\n]*\n$/,
    ],
    [
      'svc/web --at 0',
      /^error: services "web" not found in namespace "default", and there was none since [^\n]*\n$/,
    ],
    [
      'svc/web --at 2h',
      /^History is kept since 2026-01-01T12:00:00\.000000Z, resource version \d+\n$/,
    ],
    ['web', /^error: "web" is not a Service, want svc\/NAME or svc\/NAMESPACE\/NAME\n$/],
    ['svc/web -n ../x', /^error: --namespace: "\.\.\/x" is not the name of a namespace\n$/],
    ['svc/a/b/c', /^error: "svc\/a\/b\/c" is not a Service, /],
    ['svc/web --since tomorrow', /^error: --since: "tomorrow" is no time, /],
    [
      'svc/web --since 1h --at 1h',
      /^error: --at shows one moment and --since a period: want one of them\n$/,
    ],
  ];
  for (const [line, sentence] of cases) {
    const { code, out, err } = await world.run(`history ${line}`);
    assert.match(err, sentence);
    assert.deepEqual([code, out], [2, ''], line);
  }
});

test('history says that a server keeps none', limit, async (t) => {
  const world = await startPastWorld(t, { keepsHistory: false });
  for (const flags of ['', ' --at 1m']) {
    assert.deepEqual(await world.run(`history svc/web${flags}`), {
      code: 2,
      out: '',
      err: 'History is not kept: --history-retention is 0\n',
    });
  }
});

test('history is by the clock of the server, and says when this one differs', limit, async (t) => {
  const world = await startPastWorld(t);
  await rollOut(world);
  const right = await world.run('history svc/web --since 10s');
  const wrong = await world.run('history svc/web --since 10s', { nowMs: world.timeMs - 90_000 });
  assert.equal(wrong.out, right.out);
  assert.equal(
    wrong.err,
    "The clock of the server is 90 s ahead of this one; all times are by the server's\n",
  );
});

/** Select graphic rendition, which is all that is sent to terminals. */
const colours = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, 'g');

test('history shows names and messages without what a terminal would obey', limit, async (t) => {
  const world = await startPastWorld(t);
  const { api } = world.server;
  await live(world, [
    () => world.apply(service, services),
    () => world.apply(pod('web-1'), pods),
    () => setReady(world, 'web-1', true),
    () =>
      api.patch(`${pods}/web-1/status`, {
        status: {
          conditions: [
            {
              type: 'Ready',
              status: 'False',
              reason: 'X',
              message: '\u001b]0;owned\u0007\u009b2J\u202e\r\n',
            },
          ],
        },
      }),
    () => api.patch(`${services}/web`, { metadata: { annotations: { a: '\u001b[2J' } } }),
  ]);
  for (const flags of ['', ' -v', ' --at 0']) {
    const { out } = await world.run(`history svc/web${flags}`, {
      terminal: { columns: 120, rows: 40 },
    });
    const plain = out.replaceAll(colours, '');
    assert.doesNotMatch(plain, /[^\P{Cc}\n]|\p{Bidi_Control}/u);
  }
});

test(
  'history leaves out what is too much, and begins with what there was then',
  limit,
  async (t) => {
    const world = await startPastWorld(t);
    await live(world, [() => world.apply(service, services), () => world.apply(slice, slices)]);
    await live(
      world,
      Array.from(
        { length: 12 },
        (_none, at) => () => setEndpoints(world, endpoint('web-1', '10.244.1.5', at % 2 === 1)),
      ),
    );
    const past = await withExplainSession(
      { kubeconfig: world.kubeconfig },
      silentWorld,
      ({ caller }) =>
        readServicePast(caller, {
          ...{ namespace: 'default', name: 'web', sinceMs: worldStart, nowMs: world.timeMs },
          maxChanges: 5,
        }),
    );
    const { events, shortened, start, outages } = buildTimeline(past);
    assert.match(
      shortened ?? '',
      /^there were more than 5 changes: shown from 2026-01-01 12:00:09 /,
    );
    assert.deepEqual(
      start.endpoints.map(({ ready }) => ready),
      [true],
    );
    assert.equal(events.filter(({ type }) => /^Endpoint(Not)?Ready$/.test(type)).length, 4);
    assert.deepEqual(
      outages.map(({ milliseconds }) => milliseconds),
      [1000, 1000],
    );
  },
);
