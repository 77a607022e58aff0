// Shutdown of the node agent: statuses of pods are written, within a limited time.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Transport } from '../../../src/client/transport.ts';
import { createFakeClock } from '../../../src/host/fake-clock.ts';
import type { EndpointSlice } from '../../../src/kinds/endpoint-slice/types.ts';
import { isPodReady } from '../../../src/kinds/pod/readiness.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import type { ObjectList } from '../harness/api-client.ts';
import { type NodeHarness, pods, startNodeHarness } from '../harness/node-harness.ts';

const limit = { timeout: 120_000 };
const app = (...command: readonly string[]): object => ({ name: 'app', image: 'process', command });
const stateOf = ({ status }: Pod) => status.containerStatuses?.[0]?.state;
const isRunning = (pod: Pod): boolean => stateOf(pod)?.running !== undefined;

test('an agent writes the statuses of all pods at shutdown', limit, async (t) => {
  const harness = await startNodeHarness(t);
  const names = Array.from({ length: 200 }, (_, number) => `pod-${number}`);
  const spec = { containers: [app('sleep', '1000')] };
  await Promise.all(names.map((name) => harness.run(name, spec)));
  for (const name of names) await harness.until(name, isPodReady);
  await harness.stopNode();
  const { items } = await harness.api.get<ObjectList<Pod>>(pods);
  const states = items.map((pod) => [pod.status.phase, isPodReady(pod), ended(pod)]);
  assert.deepEqual(
    states,
    names.map(() => ['Running', false, 143]),
  );
});

const ended = (pod: Pod): number | undefined => stateOf(pod)?.terminated?.exitCode;

test(
  'a pod that runs to completion is not completed by a shutdown of the agent',
  limit,
  async (t) => {
    const harness = await startNodeHarness(t);
    const polite = app('sh', '-c', 'trap "exit 0" TERM; echo set; while :; do sleep 1; done');
    await harness.run('job', { restartPolicy: 'OnFailure', containers: [polite] });
    await harness.until('job', isRunning);
    while (!(await logOf(harness, 'job')).includes('set'));
    await harness.stopNode();
    const pod = await harness.api.get<Pod>(`${pods}/job`);
    assert.deepEqual(
      [pod.status.phase, stateOf(pod)?.terminated?.reason],
      ['Running', 'ContainerStatusUnknown'],
    );
    await harness.startAgain();
    const again = await harness.until('job', isRunning);
    assert.equal(again.status.containerStatuses?.[0]?.restartCount, 1);
  },
);

const logOf = async ({ api }: NodeHarness, name: string): Promise<string> =>
  String((await api.send({ method: 'GET', path: `${pods}/${name}/log` })).body);

test('waiting for proxies counts against the grace period of the pod', limit, async (t) => {
  const clock = createFakeClock(Date.now());
  const ending: (() => void)[] = [];
  const isEnding = new Promise<void>((resolve) => ending.push(resolve));
  const released = (): Promise<void> => {
    for (const resolve of ending) resolve();
    return new Promise(() => undefined);
  };
  const harness = await startNodeHarness(t, { clock, released });
  const spec = { terminationGracePeriodSeconds: 4, containers: [app('sleep', '1000')] };
  await harness.run('last', spec);
  await harness.until('last', isRunning);
  await harness.api.delete(`${pods}/last`);
  await isEnding;
  await clock.advance(4000);
  await harness.isGone('last');
});

test('an agent shuts down although its server does not respond', limit, async (t) => {
  const clock = createFakeClock();
  let isSilent = false;
  let onStatusRequest = (): void => {};
  const statusRequested = new Promise<void>((resolve) => {
    onStatusRequest = resolve;
  });
  const harness = await startNodeHarness(t, {
    clock,
    intercept: (send) => (request) => {
      if (!isSilent) return send(request);
      if (request.path.endsWith('/status')) onStatusRequest();
      return never(request);
    },
  });
  await harness.run('one', { containers: [app('sleep', '1000')] });
  await harness.until('one', isRunning);
  isSilent = true;
  const stopped = harness.stopNode();
  await statusRequested;
  await clock.advance(7000);
  await stopped;
  assert.equal(isRunning(await harness.api.get<Pod>(`${pods}/one`)), true);
});

/** As a connection on which no answer comes. */
const never: Transport['send'] = ({ signal }) =>
  new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

test('a shutdown of the agent shortens the grace period of a terminating pod', limit, async (t) => {
  const clock = createFakeClock();
  const harness = await startNodeHarness(t, { clock });
  const directory = mkdtempSync(join(tmpdir(), 'deaf-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const [set, signalled] = ['set', 'signalled'].map((name) => join(directory, name));
  const script = 'trap ": > /keep/signalled" TERM; : > /keep/set; while :; do sleep 0.1; done';
  const volumeMounts = [{ name: 'keep', mountPath: '/keep' }];
  const spec = {
    terminationGracePeriodSeconds: 3600,
    containers: [{ ...app('sh', '-c', script), volumeMounts }],
    volumes: [{ name: 'keep', hostPath: { path: directory } }],
  };
  await harness.run('deaf', spec);
  await harness.until('deaf', () => existsSync(set ?? ''));
  await harness.api.send({ method: 'DELETE', path: `${pods}/deaf` });
  await harness.until('deaf', () => existsSync(signalled ?? ''));
  const stopped = harness.stopNode();
  await clock.settle();
  await clock.advance(2000);
  await stopped;
  const { status } = await harness.api.send({ method: 'GET', path: `${pods}/deaf` });
  assert.equal(status, 404);
});

test(
  'a terminating pod has readiness probes until it has terminated, and no other probes',
  limit,
  async (t) => {
    const { api, run, until, isGone } = await startNodeHarness(t, { controllers: true });
    await api.post('/api/v1/namespaces/default/services', {
      metadata: { name: 'leaving' },
      spec: { selector: { app: 'leaving' }, ports: [{ port: 80 }] },
    });
    const exec = { command: ['test', '-e', '/tmp/healthy'] };
    const probe = { exec, periodSeconds: 1, failureThreshold: 1 };
    const script = 'touch /tmp/healthy; trap "rm /tmp/healthy" TERM; while :; do sleep 0.1; done';
    const spec = {
      terminationGracePeriodSeconds: 600,
      containers: [
        {
          ...{ name: 'app', image: 'process', command: ['sh', '-c', script] },
          ...{ readinessProbe: probe, livenessProbe: probe },
        },
      ],
    };
    await run('leaving', spec, { labels: { app: 'leaving' } });
    await until('leaving', isPodReady);
    await api.delete(`${pods}/leaving`);
    const { metadata, status } = await until('leaving', (pod) => !isPodReady(pod));
    assert.ok(metadata.deletionTimestamp !== undefined);
    const [app] = status.containerStatuses ?? [];
    assert.deepEqual([app?.ready, app?.state.running !== undefined], [false, true]);
    await untilConditions(api, { ready: false, serving: false, terminating: true });
    await api.delete(`${pods}/leaving`, { gracePeriodSeconds: 1 });
    await isGone('leaving');
    const events = await api.get<{ items: readonly { message: string }[] }>(
      '/api/v1/namespaces/default/events',
    );
    const failures = events.items.filter(({ message }) => message.startsWith('Liveness probe'));
    assert.deepEqual(failures, []);
  },
);

/** Of the only endpoint. */
async function untilConditions(api: NodeHarness['api'], wanted: object): Promise<void> {
  const path = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  const selector = '?labelSelector=kubernetes.io/service-name=leaving';
  for (;;) {
    const { items } = await api.get<ObjectList<EndpointSlice>>(`${path}${selector}`);
    const [endpoint] = items[0]?.endpoints ?? [];
    if (isDeepStrictEqual({ ...endpoint?.conditions }, wanted)) return;
  }
}
