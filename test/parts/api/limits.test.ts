// What one user can take of the server, and that the others still get theirs.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type ClientHttp2Stream, connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { defaultLimits, type Limits } from '../../../src/apiserver/limits/limits.ts';
import type { Status } from '../../../src/meta/api-error.ts';
import type { KubeObject } from '../../../src/meta/object.ts';
import { type Answer, type ApiClient, openApiClient } from '../harness/api-client.ts';
import { type MemoryServer, startMemoryServer, testCredentials } from '../harness/memory-server.ts';

const timeout = 30_000;
const configMaps = '/api/v1/namespaces/default/configmaps';
const tokens = 'a,alice,1,editors\nb,bob,2,editors\n';
let directory = '';

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'fairlead-limits-'));
  await writeFile(join(directory, 'tokens.csv'), tokens);
});
after(() => rm(directory, { recursive: true }));

type Limited = MemoryServer & {
  readonly as: (token: string) => ApiClient['send'];
  /** A create of the user whose body is incomplete until `finish` is called. */
  readonly hang: (token: string, name: string, query?: string) => Hanging;
  readonly metric: (name: string) => Promise<number>;
};

type Hanging = { readonly answered: Promise<number>; readonly finish: () => void };

async function startLimited(limits: Partial<Limits>): Promise<Limited> {
  const running = await startMemoryServer({
    access: {
      tokens: { file: join(directory, 'tokens.csv') },
      limits: { ...defaultLimits, ...limits },
    },
  });
  await running.api.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'editors' },
    subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'editors' }],
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
  });
  const { port } = running.server.address;
  const ca = testCredentials().authority.certificate;
  const plain = await openApiClient({ port, ca });
  const session = connect(`https://localhost:${port}`, { ca });
  session.on('error', () => {});
  return {
    ...running,
    as: (token) => (call) =>
      plain.send({ ...call, headers: { ...call.headers, authorization: `Bearer ${token}` } }),
    hang(token, name, query = '') {
      const stream = session.request({
        ':method': 'POST',
        ':path': configMaps + query,
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      });
      const body = JSON.stringify({ metadata: { name } });
      stream.write(body.slice(0, 5));
      return { answered: statusOf(stream), finish: () => stream.end(body.slice(5)) };
    },
    async metric(name) {
      const { body } = await running.api.send<string>({ method: 'GET', path: '/metrics' });
      const line = body.split('\n').find((one) => one.startsWith(name));
      return Number(line?.split(' ').at(-1) ?? 0);
    },
    async stop() {
      session.destroy();
      plain.close();
      await running.stop();
    },
  };
}

async function statusOf(stream: ClientHttp2Stream): Promise<number> {
  const [headers] = await once(stream, 'response');
  stream.resume();
  return Number(headers[':status']);
}

const create = (name: string) => ({
  method: 'POST',
  path: configMaps,
  body: { metadata: { name } },
});

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds()));
}

function assertTooMany({ status, headers, body }: Answer<Status>): void {
  assert.equal(status, 429);
  assert.equal(headers['retry-after'], '1');
  assert.equal(body.reason, 'TooManyRequests');
  assert.equal(body.message, 'Too many requests, please try again later.');
  assert.equal(body.details?.retryAfterSeconds, 1);
}

const inFlight = 'apiserver_current_inflight_requests{request_kind="mutating"}';
const inQueue = 'apiserver_flowcontrol_current_inqueue_requests{priority_level="mutating"';
const rejected = 'apiserver_flowcontrol_rejected_requests_total{priority_level="mutating"';

test('a user that takes all its seats waits and is refused, and does not affect other users', {
  timeout,
}, async (t) => {
  const server = await startLimited({
    maxMutatingRequestsInFlight: 2,
    maxQueuedRequestsPerUser: 1,
  });
  t.after(server.stop);
  const held = server.hang('a', 'held');
  await until(async () => (await server.metric(inFlight)) === 1);
  const queued = server.as('a')(create('queued'));
  await until(async () => (await server.metric(inQueue)) === 1);
  assertTooMany(await server.as('a')(create('refused')));
  assert.equal((await server.as('a')({ method: 'GET', path: configMaps })).status, 200, 'reads');
  assert.equal((await server.as('b')(create('bobs'))).status, 201, 'another user');
  assert.equal((await server.api.send(create('admins'))).status, 201, 'an administrator');
  assert.equal((await server.as('a')({ method: 'GET', path: '/readyz' })).status, 200, 'health');
  held.finish();
  assert.equal(await held.answered, 201);
  assert.equal((await queued).status, 201);
  assert.equal(await server.metric(rejected), 1);
  assert.equal(await server.metric(inQueue), 0);
  assert.equal(await server.metric('apiserver_request_terminations_total'), 1);
});

test('who waits too long for a seat is refused', { timeout }, async (t) => {
  const server = await startLimited({ maxMutatingRequestsInFlight: 1, queueWaitMs: 20 });
  t.after(server.stop);
  const held = server.hang('a', 'held');
  await until(async () => (await server.metric(inFlight)) === 1);
  assertTooMany(await server.as('b')(create('late')));
  held.finish();
  assert.equal(await held.answered, 201);
});

test('a request that takes too long is answered, and a watch is not', { timeout }, async (t) => {
  // Long enough for all that is not held up, on a busy machine too.
  const server = await startLimited({ requestTimeoutMs: 2000 });
  t.after(server.stop);
  const watch = await server.api.watch(`${configMaps}?watch=1&resourceVersion=0`);
  const held = server.hang('a', 'held');
  assert.equal(await held.answered, 504);
  const { status } = await server.as('a')({ method: 'GET', path: `${configMaps}/held` });
  assert.equal(status, 404);
  await server.api.post(configMaps, { metadata: { name: 'seen' } });
  await watch.until((events) => events.some(({ object }) => object.metadata.name === 'seen'));
  watch.close();
  assert.equal(await server.metric('apiserver_request_terminations_total'), 1);
});

test('a shorter timeout of a client applies to its request only', {
  timeout,
}, async (t) => {
  const server = await startLimited({});
  t.after(server.stop);
  const patient = server.hang('a', 'patient', '?timeout=1h');
  assert.equal(await server.hang('a', 'hasty', '?timeout=50ms').answered, 504);
  // A time that is over before it began bounds nothing (recorded: 200 for a delete with timeout=-5s).
  const past = server.hang('a', 'past', '?timeout=-1s');
  assert.equal(await server.hang('a', 'wrong', '?timeout=soon').answered, 400);
  for (const hanging of [patient, past]) {
    hanging.finish();
    assert.equal(await hanging.answered, 201);
  }
  const { items } = await server.api.get<{ items: KubeObject[] }>(configMaps);
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['past', 'patient'],
  );
});

test('a user has so many watches and no more', { timeout }, async (t) => {
  const server = await startLimited({ maxWatchesPerUser: 2 });
  t.after(server.stop);
  const { port } = server.server.address;
  const session = connect(`https://localhost:${port}`, {
    ca: testCredentials().authority.certificate,
  });
  t.after(() => session.destroy());
  const path = `${configMaps}?watch=1`;
  const watch = (token: string): ClientHttp2Stream =>
    session.request({ ':path': path, authorization: `Bearer ${token}` });
  const [first, second] = [watch('a'), watch('a')];
  assert.deepEqual(await Promise.all([statusOf(first), statusOf(second)]), [200, 200]);
  const refused = await server.as('a')({ method: 'GET', path });
  assert.equal(refused.status, 429);
  assert.match(refused.body.message ?? '', /^Too many requests, .* User "alice" has 2 watches/);
  const bobs = watch('b');
  assert.equal(await statusOf(bobs), 200);
  assert.equal(await server.metric('apiserver_longrunning_requests'), 3);
  first.close();
  await until(async () => (await server.metric('apiserver_longrunning_requests')) === 2);
  assert.equal(await statusOf(watch('a')), 200);
});

test('a watch with long selectors counts as many', { timeout }, async (t) => {
  const server = await startLimited({ maxWatchesPerUser: 30 });
  t.after(server.stop);
  const watch = async (labelSelector: string): Promise<number> => {
    const path = `${configMaps}?watch=1&timeoutSeconds=1&labelSelector=${labelSelector}`;
    return (await server.as('a')({ method: 'GET', path })).status;
  };
  assert.equal(await watch('a'), 200);
  assert.equal(await watch('!a,'.repeat(12_000)), 429);
});

test('/metrics is for those who may see it', { timeout }, async (t) => {
  const server = await startLimited({});
  t.after(server.stop);
  const { status } = await server.as('a')({ method: 'GET', path: '/metrics' });
  assert.equal(status, 403);
  const { body } = await server.api.send<string>({ method: 'GET', path: '/metrics' });
  for (const name of [
    'apiserver_request_total',
    'apiserver_request_duration_seconds',
    'apiserver_response_sizes',
    'apiserver_current_inflight_requests',
    'apiserver_longrunning_requests',
    'apiserver_watch_events_total',
    'apiserver_request_terminations_total',
    'apiserver_flowcontrol_dispatched_requests_total',
    'apiserver_flowcontrol_rejected_requests_total',
    'apiserver_flowcontrol_current_inqueue_requests',
    'process_resident_memory_bytes',
    'process_start_time_seconds',
  ]) {
    assert.match(body, new RegExp(`^# TYPE ${name} `, 'm'));
  }
});
