import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../../kinds/pod/example.ts';
import type { PodStatus } from '../../kinds/pod/pod-status.ts';
import type { ContainerRecord, ContainerRecords } from '../pod/container-record.ts';
import { podStatus, type StatusOptions } from './pod-status.ts';

const now = Date.parse('2026-01-01T00:00:10Z');
const ready: ContainerRecord = {
  state: { kind: 'running', id: 'process://1', startedAt: now - 5000 },
  restartCount: 0,
  isStarted: true,
  isReady: true,
};
const ended = (exitCode: number): ContainerRecord => ({
  state: {
    kind: 'terminated',
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: now - 5000,
    finishedAt: now - 1000,
    id: 'process://1',
  },
  restartCount: 0,
  isStarted: false,
  isReady: false,
});
const crashing: ContainerRecord = {
  state: { kind: 'waiting', reason: 'CrashLoopBackOff', message: 'back-off 10s' },
  last: { kind: 'terminated', exitCode: 1, reason: 'Error', startedAt: 0, finishedAt: 1000 },
  restartCount: 3,
  isStarted: false,
  isReady: false,
};

function statusOf(spec: object, records: ContainerRecords, more: Partial<StatusOptions> = {}) {
  const pod = examplePod({ metadata: { generation: 1 }, spec });
  return podStatus({
    pod,
    records,
    before: {},
    addresses: { podIPs: ['10.244.0.5'], hostIPs: ['10.0.0.1'] },
    startedAt: now - 6000,
    now,
    isTerminal: false,
    ...more,
  });
}

function condition(status: PodStatus, type: string): string {
  const found = status.conditions?.find((c) => c.type === type);
  return [found?.status, found?.reason, found?.message].filter((text) => text).join(' ');
}

test('podStatus() of a pod with a ready container', () => {
  const status = statusOf({ containers: [{ name: 'app', image: 'app:1' }] }, { app: ready });
  assert.equal(status.phase, 'Running');
  assert.deepEqual(
    status.conditions?.map(({ type, status: s }) => `${type}=${s}`),
    [
      'PodReadyToStartContainers=True',
      'Initialized=True',
      'Ready=True',
      'ContainersReady=True',
      'PodScheduled=True',
    ],
  );
  assert.deepEqual(
    [status.podIP, status.hostIP, status.observedGeneration],
    ['10.244.0.5', '10.0.0.1', 1],
  );
  assert.deepEqual(status.containerStatuses, [
    {
      name: 'app',
      state: { running: { startedAt: '2026-01-01T00:00:05Z' } },
      lastState: {},
      ready: true,
      restartCount: 0,
      image: 'app:1',
      imageID: '',
      containerID: 'process://1',
      started: true,
      resources: {},
    },
  ]);
});

test('podStatus() of a new pod is Pending and lists the unready containers', () => {
  const status = statusOf({}, {}, { addresses: { podIPs: [], hostIPs: ['10.0.0.1'] } });
  assert.equal(status.phase, 'Pending');
  assert.equal(condition(status, 'PodReadyToStartContainers'), 'False');
  assert.equal(
    condition(status, 'Ready'),
    'False ContainersNotReady containers with unready status: [app]',
  );
  assert.equal(status.containerStatuses?.[0]?.state.waiting?.reason, 'ContainerCreating');
});

test('podStatus() is Pending while init containers run', () => {
  const spec = { initContainers: [{ name: 'first' }, { name: 'second' }] };
  const status = statusOf(spec, { first: ended(0), second: ready });
  assert.equal(status.phase, 'Pending');
  assert.equal(
    condition(status, 'Initialized'),
    'False ContainersNotInitialized containers with incomplete status: [second]',
  );
  assert.equal(status.initContainerStatuses?.[0]?.ready, true);
  assert.equal(status.containerStatuses?.[0]?.state.waiting?.reason, 'PodInitializing');
});

const phases: readonly (readonly [
  string,
  object,
  ContainerRecords,
  Partial<StatusOptions>,
  string,
])[] = [
  ['a crash loop is Running', {}, { app: crashing }, {}, 'Running'],
  ['all succeeded', { restartPolicy: 'OnFailure' }, { app: ended(0) }, {}, 'Succeeded'],
  ['one failed with Never', { restartPolicy: 'Never' }, { app: ended(1) }, {}, 'Failed'],
  ['one failed with OnFailure', { restartPolicy: 'OnFailure' }, { app: ended(1) }, {}, 'Running'],
  ['terminated after success', {}, { app: ended(0) }, { isTerminal: true }, 'Succeeded'],
  ['terminated after failure', {}, { app: ended(143) }, { isTerminal: true }, 'Failed'],
  [
    'a finished pod keeps its phase',
    {},
    { app: ended(1) },
    { before: { phase: 'Succeeded' } },
    'Succeeded',
  ],
];
for (const [name, spec, records, more, expected] of phases) {
  test(`podStatus() phase: ${name}`, () =>
    assert.equal(statusOf(spec, records, more).phase, expected));
}

test('podStatus() of a finished pod is not ready, with the reason', () => {
  const done = statusOf({ restartPolicy: 'Never' }, { app: ended(0) });
  assert.equal(condition(done, 'Ready'), 'False PodCompleted');
  assert.equal(condition(done, 'Initialized'), 'True PodCompleted');
  assert.equal(
    condition(statusOf({ restartPolicy: 'Never' }, { app: ended(1) }), 'Ready'),
    'False PodFailed',
  );
});

test('podStatus() is not ready until readiness gates are True', () => {
  const spec = { readinessGates: [{ conditionType: 'example.com/in' }, { conditionType: 'b' }] };
  const gate = { type: 'b', status: 'False', lastProbeTime: null, lastTransitionTime: null };
  const status = statusOf(spec, { app: ready }, { before: { conditions: [gate] } });
  assert.equal(
    condition(status, 'Ready'),
    'False ReadinessGatesNotReady corresponding condition of pod readiness gate "example.com/in" does not exist., the status of pod readiness gate "b" is not "True", but False',
  );
  assert.equal(condition(status, 'ContainersReady'), 'True');
});

test('podStatus() changes the transition time of a condition only with its status', () => {
  const first = statusOf({}, {});
  const second = statusOf({}, { app: ready }, { before: first, now: now + 5000 });
  const time = (type: string) =>
    second.conditions?.find((c) => c.type === type)?.lastTransitionTime;
  assert.equal(time('Ready'), '2026-01-01T00:00:15Z');
  assert.equal(time('PodScheduled'), '2026-01-01T00:00:10Z');
});

test('podStatus() has the resources in effect, not those of the spec', () => {
  const quantities = (cpu: string) => ({ requests: { cpu }, limits: { cpu: '2' } });
  const spec = { containers: [{ name: 'app', image: 'app:1', resources: quantities('1500m') }] };
  const waiting = statusOf(spec, {});
  assert.deepEqual(waiting.containerStatuses?.[0]?.resources, quantities('1500m'));
  const resizeProblem = 'memory limit (1) below current usage (2)';
  const resized = statusOf(spec, { app: { ...ready, resources: quantities('1'), resizeProblem } });
  assert.deepEqual(resized.containerStatuses?.[0]?.resources, quantities('1'));
  assert.deepEqual(resized.containerStatuses?.[0]?.allocatedResources, { cpu: '1' });
  assert.equal(condition(resized, 'PodResizeInProgress'), `True Error ${resizeProblem}`);
  assert.equal(condition(waiting, 'PodResizeInProgress'), '');
});

test('podStatus() has ephemeral containers, which are never ready', () => {
  const spec = { containers: [{ name: 'app' }], ephemeralContainers: [{ name: 'debug' }] };
  const status = statusOf(spec, { app: ready, debug: ended(3) });
  const [debug] = status.ephemeralContainerStatuses ?? [];
  assert.deepEqual(
    [debug?.name, debug?.ready, debug?.started, debug?.state.terminated?.exitCode],
    ['debug', false, undefined, 3],
  );
  assert.deepEqual([status.phase, condition(status, 'Ready')], ['Running', 'True']);
  const [first] = statusOf(spec, { app: ready }).ephemeralContainerStatuses ?? [];
  assert.deepEqual(first?.state, { waiting: { reason: 'ContainerCreating' } });
});
