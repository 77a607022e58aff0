// Pods as processes: the node agent runs the pods of its node, and reports their status.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLocalCall } from '../../../src/apiserver/local-call.ts';
import { createFakeClock } from '../../../src/host/fake-clock.ts';
import type { Node } from '../../../src/kinds/node/types.ts';
import { isPodReady } from '../../../src/kinds/pod/readiness.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import type { ObjectList } from '../harness/api-client.ts';
import { freePort } from '../harness/free-port.ts';
import { pods, startNodeHarness } from '../harness/node-harness.ts';

const shell = (script: string, more: object = {}): object => ({
  name: 'app',
  image: 'process',
  command: ['sh', '-c', script],
  ...more,
});
const log = (name: string, query = ''): string => `${pods}/${name}/log${query}`;
const limit = { timeout: 60_000 };

test('the node registers itself and renews its lease', limit, async (t) => {
  const { api } = await startNodeHarness(t);
  const node = await api.get<Node>('/api/v1/nodes/node-1');
  assert.equal(node.metadata.labels?.['kubernetes.io/os'], 'linux');
  assert.deepEqual(
    node.status.conditions?.map(({ type, status }) => `${type}=${status}`),
    ['MemoryPressure=False', 'DiskPressure=False', 'PIDPressure=False', 'Ready=True'],
  );
  assert.ok(
    node.status.addresses?.some((one) => one.type === 'Hostname' && one.address === 'node-1'),
  );
  assert.match(node.status.nodeInfo?.kubeletVersion ?? '', /^v1\.\d+\.\d+\+fairlead\./);
  assert.match(node.status.allocatable?.['ephemeral-storage'] ?? '', /^[1-9]\d*Ki$/);
  assert.ok((node.status.daemonEndpoints?.kubeletEndpoint?.Port ?? 0) > 0);
  const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1';
  while ((await api.send({ method: 'GET', path: lease })).status !== 200);
});

test(
  'a pod serves, becomes ready by its probe, gets endpoints, and terminates on SIGTERM',
  limit,
  async (t) => {
    const harness = await startNodeHarness(t, { controllers: true });
    const { api } = harness;
    const port = await freePort();
    const script = `require('http').createServer((q, r) => r.end(process.env.GREETING)).listen(${port});
    process.on('SIGTERM', () => { console.log('bye'); process.exit(0); }); console.log('up');`;
    await api.post('/api/v1/namespaces/default/services', {
      metadata: { name: 'web' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: port }] },
    });
    await harness.run(
      'web',
      {
        containers: [
          {
            name: 'app',
            image: 'process',
            command: [process.execPath, '-e', script],
            env: [
              { name: 'ME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
              { name: 'GREETING', value: 'hello from $(ME)' },
            ],
            readinessProbe: { httpGet: { path: '/', port }, periodSeconds: 1, failureThreshold: 1 },
          },
        ],
      },
      { labels: { app: 'web' } },
    );
    const pod = await harness.until('web', isPodReady);
    assert.deepEqual([pod.status.phase, pod.status.podIP], ['Running', '192.0.2.10']);
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    assert.equal(await answer.text(), 'hello from web');
    const slices =
      '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io/service-name%3Dweb';
    type Slice = { readonly endpoints?: readonly { readonly addresses: readonly string[] }[] };
    let found: readonly string[] = [];
    while (found.length === 0) {
      const { items } = await api.get<ObjectList<Slice>>(slices);
      found = items.flatMap(({ endpoints = [] }) =>
        endpoints.flatMap(({ addresses }) => addresses),
      );
    }
    assert.deepEqual(found, ['192.0.2.10']);
    const said = async (): Promise<string> =>
      (await api.send<string>({ method: 'GET', path: log('web') })).body;
    while ((await said()) !== 'up\n') await api.ping();
    const path = join(harness.directory, 'logs', `default_web_${pod.metadata.uid}`, 'app', '0.log');
    await api.send({ method: 'DELETE', path: `${pods}/web` });
    await harness.isGone('web');
    assert.match(readFileSync(path, 'utf8'), /stdout F bye/);
    assert.deepEqual(readdirSync(join(harness.directory, 'pods')), []);
    for (const wanted of [
      'Pulled: Container image "process" already present on machine and can be accessed by the pod',
      'Created: Container created',
      'Started: Container started',
      'Killing: Stopping container app',
    ]) {
      await harness.waitForEvent('web', wanted);
    }
  },
);

test('a pod that listens late is ready then, not a probe period later', limit, async (t) => {
  const harness = await startNodeHarness(t);
  const port = await freePort();
  const listen = `setTimeout(() => require('http').createServer((q, r) => r.end()).listen(${port}), 1000)`;
  // Only a probe before the next period sees it: the limit of the test is shorter than that.
  const probe = { httpGet: { path: '/', port }, periodSeconds: 3600 };
  await harness.run('late', {
    containers: [
      {
        ...{ name: 'app', image: 'process', command: [process.execPath, '-e', listen] },
        ...{ startupProbe: probe, readinessProbe: probe },
        livenessProbe: { ...probe, failureThreshold: 1 },
      },
    ],
  });
  const pod = await harness.until('late', isPodReady);
  assert.equal(pod.status.containerStatuses?.[0]?.restartCount, 0);
  await harness.waitForEvent('late', 'Unhealthy: Startup probe failed');
  const { items } = await harness.api.get<ObjectList<{ reason: string; count: number }>>(
    '/api/v1/namespaces/default/events?fieldSelector=reason=Unhealthy',
  );
  // Those in between do not count.
  assert.deepEqual(
    items.map(({ count }) => count),
    [1],
  );
});

test(
  'variables and volumes come from ConfigMaps and Secrets, and a missing one is reported',
  limit,
  async (t) => {
    const harness = await startNodeHarness(t);
    const { api } = harness;
    await harness.run('configured', {
      restartPolicy: 'Never',
      initContainers: [
        {
          ...shell('echo made > /scratch/file'),
          name: 'first',
          volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
        },
      ],
      containers: [
        shell('echo $COLOR; cat /config/size /scratch/file; sed -n 1,2p /etc/resolv.conf', {
          env: [
            { name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color' } } },
          ],
          volumeMounts: [
            { name: 'settings', mountPath: '/config' },
            { name: 'scratch', mountPath: '/scratch' },
          ],
        }),
      ],
      volumes: [
        { name: 'settings', configMap: { name: 'settings' } },
        { name: 'scratch', emptyDir: {} },
      ],
    });
    await harness.waitForEvent(
      'configured',
      'FailedMount: MountVolume.SetUp failed for volume "settings" : configmap "settings" not found',
    );
    await api.post('/api/v1/namespaces/default/configmaps', {
      metadata: { name: 'settings' },
      data: { color: 'red', size: 'large\n' },
    });
    const pod = await harness.until('configured', ({ status }) => status.phase === 'Succeeded');
    assert.equal(pod.status.initContainerStatuses?.[0]?.state.terminated?.reason, 'Completed');
    const { body } = await api.send<string>({ method: 'GET', path: log('configured') });
    assert.equal(
      body,
      'red\nlarge\nmade\nsearch default.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\n',
    );
  },
);

test(
  'hooks run inside the container, a sidecar outlives it, and a token is mounted',
  limit,
  async (t) => {
    const harness = await startNodeHarness(t);
    const { api } = harness;
    await api.post('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
    const shared = [{ name: 'shared', mountPath: '/shared' }];
    const hook = (line: string) => ({
      exec: { command: ['sh', '-c', `echo ${line} >> /shared/log`] },
    });
    await harness.run('hooked', {
      serviceAccountName: 'robot',
      initContainers: [
        {
          ...shell('trap "cat /shared/log; exit 0" TERM; echo up; sleep 1000 & wait', {
            volumeMounts: shared,
          }),
          name: 'sidecar',
          restartPolicy: 'Always',
        },
      ],
      containers: [
        shell(
          'trap "echo end >> /shared/log; exit 0" TERM; cut -c1-3 /token/jwt; sleep 1000 & wait',
          {
            volumeMounts: [...shared, { name: 'token', mountPath: '/token' }],
            lifecycle: { postStart: hook('begun'), preStop: hook('ending') },
          },
        ),
      ],
      volumes: [
        { name: 'shared', emptyDir: {} },
        { name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'jwt' } }] } },
      ],
    });
    const pod = await harness.until('hooked', isPodReady);
    const directory = join(harness.directory, 'logs', `default_hooked_${pod.metadata.uid}`);
    // Both say something as soon as they listen to the signal.
    for (const [name, words] of [
      ['sidecar', 'up'],
      ['app', 'eyJ'],
    ] as const) {
      while (!readFileSync(join(directory, name, '0.log'), 'utf8').includes(words))
        await api.ping();
    }
    await api.send({ method: 'DELETE', path: `${pods}/hooked` });
    await harness.isGone('hooked');
    const lines = readFileSync(join(directory, 'sidecar', '0.log'), 'utf8');
    assert.deepEqual(lines.match(/(?<=F ).*/g), ['up', 'begun', 'ending', 'end']);
  },
);

test('a failing container is restarted with increasing back-off', limit, async (t) => {
  const clock = createFakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const harness = await startNodeHarness(t, { clock });
  await harness.run('crash', { containers: [shell('echo run $RANDOM; exit 3')] });
  const status = ({ status: { containerStatuses } }: Pod) => containerStatuses?.[0];
  const isWaiting = (count: number) => (pod: Pod) =>
    status(pod)?.restartCount === count &&
    status(pod)?.state.waiting?.reason === 'CrashLoopBackOff';
  // The first restart comes at once, the next ones wait.
  const first = await harness.until('crash', isWaiting(1));
  assert.match(
    status(first)?.state.waiting?.message ?? '',
    /^back-off 10s restarting failed container=app pod=crash_default\(/,
  );
  assert.equal(status(first)?.lastState.terminated?.exitCode, 3);
  await clock.advance(9_999);
  // Another pod from start to end: time enough for a restart that comes too early.
  await harness.run('other', { restartPolicy: 'Never', containers: [shell('true')] });
  await harness.until('other', ({ status: { phase } }) => phase === 'Succeeded');
  await clock.advance(1);
  const second = await harness.until('crash', isWaiting(2));
  assert.match(status(second)?.state.waiting?.message ?? '', /^back-off 20s /);
  // By the agent's clock, which the test moves, the wait was not shorter.
  const ended = Date.parse(status(first)?.lastState.terminated?.finishedAt ?? '');
  const begun = Date.parse(status(second)?.lastState.terminated?.startedAt ?? '');
  assert.equal(begun - ended, 10_000);
  assert.equal(second.status.phase, 'Running');
  await harness.waitForEvent(
    'crash',
    'BackOff: Back-off restarting failed container app in pod crash_default(',
  );
});

test(
  'liveness restarts a container; an unknown image and a missing key are reported',
  limit,
  async (t) => {
    const harness = await startNodeHarness(t);
    const probe = {
      exec: { command: ['sh', '-c', 'echo sick; exit 1'] },
      periodSeconds: 1,
      failureThreshold: 1,
    };
    await harness.run('sick', {
      terminationGracePeriodSeconds: 1,
      containers: [shell('exec sleep 1000', { livenessProbe: probe })],
    });
    const sick = await harness.until(
      'sick',
      ({ status }) => (status.containerStatuses?.[0]?.restartCount ?? 0) > 0,
    );
    assert.equal(sick.status.containerStatuses?.[0]?.lastState.terminated?.exitCode, 143);
    await harness.waitForEvent('sick', 'Unhealthy: Liveness probe failed: sick\n');
    await harness.waitForEvent(
      'sick',
      'Killing: Container app failed liveness probe, will be restarted',
    );
    await harness.run('unknown', { containers: [{ name: 'app', image: 'nginx' }] });
    const reason = ({ status }: Pod) => status.containerStatuses?.[0]?.state.waiting?.reason;
    await harness.until('unknown', (pod) => reason(pod) === 'ErrImagePull');
    const answer = await harness.api.send({ method: 'GET', path: log('unknown') });
    assert.equal(answer.status, 400);
    assert.match(
      answer.body.message ?? '',
      /container "app" in pod "unknown" is waiting to start: trying and failing to pull image/,
    );
    const env = [{ name: 'A', valueFrom: { secretKeyRef: { name: 'no', key: 'x' } } }];
    await harness.run('keyless', { containers: [shell('true', { env })] });
    const keyless = await harness.until(
      'keyless',
      (pod) => reason(pod) === 'CreateContainerConfigError',
    );
    assert.equal(
      keyless.status.containerStatuses?.[0]?.state.waiting?.message,
      'secret "no" not found',
    );
  },
);

test('logs: tail, timestamps, previous run, and followed', limit, async (t) => {
  const harness = await startNodeHarness(t);
  const { api } = harness;
  const script =
    'echo one; echo two; if [ ! -e /keep/flag ]; then touch /keep/flag; exit 1; fi; exec cat';
  const volumeMounts = [{ name: 'keep', mountPath: '/keep' }];
  await harness.run('talks', {
    containers: [shell(script, { stdin: true, volumeMounts })],
    volumes: [{ name: 'keep', emptyDir: {} }],
  });
  await harness.until(
    'talks',
    ({ status }) =>
      status.containerStatuses?.[0]?.restartCount === 1 &&
      status.containerStatuses[0].state.running !== undefined,
  );
  const text = async (query: string) =>
    (await api.send<string>({ method: 'GET', path: log('talks', query) })).body;
  assert.equal(await text('?previous=true'), 'one\ntwo\n');
  // It runs, but may not have said anything yet.
  while ((await text('')) !== 'one\ntwo\n') await api.ping();
  assert.equal(await text('?tailLines=1'), 'two\n');
  assert.match(await text('?timestamps=true&tailLines=1'), /^\d{4}-\d\d-\d\dT\S+Z two\n$/);
  assert.equal(await text('?limitBytes=5'), 'one\nt');
  const call = createLocalCall(harness.server.server.handle, {
    user: 'admin',
    groups: ['system:masters'],
  });
  const [worker] = harness.node.workers();
  const container = worker?.containers.running('app');
  const following = await call({ method: 'GET', path: log('talks', '?follow=true&tailLines=0') });
  container?.input?.write('three\n');
  let followed = '';
  for await (const chunk of following.body) {
    followed += Buffer.from(chunk).toString();
    // It has come as it was said; with the container the log ends.
    if (followed === 'three\n') container?.signal('SIGTERM');
  }
  assert.equal(followed, 'three\n');
  const wrong = await api.send({ method: 'GET', path: log('talks', '?container=no') });
  assert.equal(wrong.status, 400);
  assert.match(wrong.body.message ?? '', /container no is not valid for pod talks/);
});

test('a restarted agent continues with its pods', limit, async (t) => {
  const harness = await startNodeHarness(t);
  await harness.run('stays', { containers: [shell('exec sleep 1000')] });
  const running = ({ status }: Pod) => status.containerStatuses?.[0]?.state.running !== undefined;
  await harness.until('stays', running);
  await harness.stopNode();
  await harness.startAgain();
  const pod = await harness.until(
    'stays',
    (one) => running(one) && (one.status.containerStatuses?.[0]?.restartCount ?? 0) === 1,
  );
  assert.equal(pod.status.phase, 'Running');
  assert.equal(existsSync(join(harness.directory, 'pods', pod.metadata.uid ?? '')), true);
});
