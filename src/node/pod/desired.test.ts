import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../../kinds/pod/example.ts';
import type { ContainerRecord, ContainerRecords } from './container-record.ts';
import { planPod } from './desired.ts';

const running: ContainerRecord = {
  state: { kind: 'running', id: 'process://1', startedAt: 0 },
  restartCount: 0,
  isStarted: true,
  isReady: true,
};
const starting: ContainerRecord = { ...running, isStarted: false, isReady: false };
const ended = (exitCode: number, more: Partial<ContainerRecord> = {}): ContainerRecord => ({
  state: { kind: 'terminated', exitCode, reason: 'Error', startedAt: 0, finishedAt: 1000 },
  restartCount: 0,
  isStarted: false,
  isReady: false,
  ...more,
});

const spec = {
  initContainers: [
    { name: 'prepare' },
    { name: 'sidecar', restartPolicy: 'Always' },
    { name: 'check' },
  ],
  containers: [{ name: 'app' }, { name: 'helper' }],
};

type Case = {
  readonly name: string;
  readonly spec?: object;
  readonly records: ContainerRecords;
  readonly start: readonly string[];
  readonly waiting?: readonly string[];
  readonly isFinished?: boolean;
};

const debugged = { ...spec, ephemeralContainers: [{ name: 'debug' }] };

const cases: readonly Case[] = [
  {
    name: 'starts ephemeral containers independently of init containers',
    spec: debugged,
    records: {},
    start: ['prepare', 'debug'],
  },
  {
    name: 'never restarts an ephemeral container, whatever the restart policy',
    spec: {
      initContainers: [],
      containers: [{ name: 'app' }],
      ephemeralContainers: [{ name: 'debug' }],
    },
    records: { app: running, debug: ended(1) },
    start: [],
  },
  {
    name: 'starts no ephemeral container in a pod that has finished',
    spec: {
      restartPolicy: 'Never',
      containers: [{ name: 'app' }],
      ephemeralContainers: [{ name: 'debug' }],
    },
    records: { app: ended(0) },
    start: [],
    isFinished: true,
  },
  { name: 'starts the first init container', records: {}, start: ['prepare'] },
  { name: 'waits for a running init container', records: { prepare: running }, start: [] },
  {
    name: 'starts the sidecar after the init container',
    records: { prepare: ended(0) },
    start: ['sidecar'],
  },
  {
    name: 'waits until the sidecar has started',
    records: { prepare: ended(0), sidecar: starting },
    start: [],
  },
  {
    name: 'continues while the sidecar is running',
    records: { prepare: ended(0), sidecar: running },
    start: ['check'],
  },
  {
    name: 'starts all containers at once after the init containers',
    records: { prepare: ended(0), sidecar: running, check: ended(0) },
    start: ['app', 'helper'],
  },
  {
    name: 'restarts an init container that failed',
    records: { prepare: ended(1) },
    start: ['prepare'],
  },
  {
    name: 'backs off when an init container fails again',
    records: { prepare: ended(1, { backOff: { delayMs: 10_000, updatedAt: 0 } }) },
    start: [],
    waiting: ['prepare'],
  },
  {
    name: 'is finished after a failed init container with restartPolicy Never',
    spec: { restartPolicy: 'Never' },
    records: { prepare: ended(1) },
    start: [],
    isFinished: true,
  },
  {
    name: 'restarts terminated sidecars and containers',
    records: { sidecar: ended(0), check: ended(0), app: ended(1), helper: running },
    start: ['sidecar', 'app'],
  },
  {
    name: 'is finished when only sidecars are running',
    spec: { restartPolicy: 'OnFailure' },
    records: { sidecar: running, app: ended(0), helper: ended(0) },
    start: [],
    isFinished: true,
  },
  {
    name: 'ignores containers that are being stopped',
    records: { sidecar: running, app: { ...running, isStopping: true }, helper: running },
    start: [],
  },
];

for (const { name, records, start, waiting = [], isFinished = false, ...more } of cases) {
  test(`planPod() ${name}`, () => {
    const plan = planPod({
      pod: examplePod({ spec: { ...spec, ...more.spec } }),
      records,
      now: 2000,
    });
    assert.deepEqual(
      plan.start.map((c) => c.name),
      start,
    );
    assert.deepEqual(
      plan.waiting.map(({ container }) => container.name),
      waiting,
    );
    assert.equal(plan.isFinished, isFinished);
  });
}
