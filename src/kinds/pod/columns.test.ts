import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podColumns, podRowConditions } from './columns.ts';
import { examplePod } from './example.ts';

const now = Date.parse('2026-01-01T01:00:00Z');

function cells(pod: Parameters<typeof examplePod>[0]): string {
  const row = podColumns.map((column) => column.cell(examplePod(pod), now));
  return [...row.slice(1, 4), ...row.slice(5)].join(' ');
}

const running = { running: {} };
const two = [
  { name: 'c', image: 'i' },
  { name: 'd', image: 'i' },
];
const init = [
  { name: 'i1', image: 'i' },
  { name: 'i2', image: 'i' },
];

const cases: readonly [string, Parameters<typeof examplePod>[0], string][] = [
  ['new', { status: { phase: 'Pending' } }, '0/1 Pending 0 <none> <none> <none> <none>'],
  [
    'one of two crashes',
    {
      spec: {
        containers: two,
        nodeName: 'n',
        readinessGates: [{ conditionType: 'g' }, { conditionType: 'h' }],
      },
      status: {
        phase: 'Running',
        podIP: '10.1.2.3',
        conditions: [{ type: 'g', status: 'True' }],
        containerStatuses: [
          { name: 'c', ready: true, restartCount: 2, state: running },
          { name: 'd', state: { waiting: { reason: 'CrashLoopBackOff' } } },
        ],
      },
    },
    '1/2 CrashLoopBackOff 2 10.1.2.3 n <none> 1/2',
  ],
  [
    'restarted a while ago',
    {
      status: {
        phase: 'Running',
        containerStatuses: [
          {
            name: 'app',
            ready: true,
            restartCount: 3,
            state: running,
            lastState: { terminated: { exitCode: 1, finishedAt: '2026-01-01T00:55:00Z' } },
          },
        ],
      },
    },
    '1/1 Running 3 (5m ago) <none> <none> <none> <none>',
  ],
  [
    'evicted',
    { status: { phase: 'Succeeded', reason: 'Evicted' } },
    '0/1 Evicted 0 <none> <none> <none> <none>',
  ],
  [
    'second init container runs',
    {
      spec: { initContainers: init },
      status: {
        phase: 'Pending',
        initContainerStatuses: [
          { name: 'i1', ready: true, state: { terminated: { exitCode: 0 } } },
          { name: 'i2', state: running },
        ],
        containerStatuses: [{ name: 'app', state: { waiting: { reason: 'PodInitializing' } } }],
      },
    },
    '0/1 Init:1/2 0 <none> <none> <none> <none>',
  ],
  [
    'init container failed',
    {
      spec: { initContainers: init },
      status: {
        initContainerStatuses: [
          { name: 'i1', restartCount: 1, state: { terminated: { exitCode: 3 } } },
        ],
      },
    },
    '0/1 Init:ExitCode:3 1 <none> <none> <none> <none>',
  ],
  [
    'sidecar runs beside the container',
    {
      spec: { initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always' }] },
      status: {
        phase: 'Running',
        initContainerStatuses: [{ name: 's', ready: true, started: true, state: running }],
        containerStatuses: [{ name: 'app', ready: true, state: running }],
      },
    },
    '2/2 Running 0 <none> <none> <none> <none>',
  ],
  [
    'initialized, with an init container that runs again: later ones do not count',
    {
      spec: {
        initContainers: [
          { name: 'i', image: 'i' },
          { name: 's', image: 'i', restartPolicy: 'Always' },
        ],
      },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Initialized', status: 'True' }],
        initContainerStatuses: [
          { name: 'i', restartCount: 1, state: running },
          { name: 's', restartCount: 5, ready: true, started: true, state: running },
        ],
        containerStatuses: [{ name: 'app', restartCount: 2, ready: true, state: running }],
      },
    },
    '1/2 Init:0/2 2 <none> <none> <none> <none>',
  ],
  [
    'killed by a signal',
    {
      status: {
        containerStatuses: [{ name: 'app', state: { terminated: { signal: 9, exitCode: 137 } } }],
      },
    },
    '0/1 Signal:9 0 <none> <none> <none> <none>',
  ],
  [
    'one has completed, one still runs',
    {
      spec: { containers: two },
      status: {
        phase: 'Running',
        containerStatuses: [
          { name: 'c', state: { terminated: { exitCode: 0, reason: 'Completed' } } },
          { name: 'd', ready: true, state: running },
        ],
      },
    },
    '1/2 NotReady 0 <none> <none> <none> <none>',
  ],
  [
    'deleted',
    { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' }, status: { phase: 'Running' } },
    '0/1 Terminating 0 <none> <none> <none> <none>',
  ],
  [
    'deleted on a lost node',
    { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' }, status: { reason: 'NodeLost' } },
    '0/1 Unknown 0 <none> <none> <none> <none>',
  ],
];

for (const [name, pod, wanted] of cases) {
  test(`podColumns shows a pod: ${name}`, () => assert.equal(cells(pod), wanted));
}

test('podRowConditions() show how a pod finished (KCT-10)', () => {
  const conditionsOf = (phase: string) =>
    podRowConditions(examplePod({ status: { phase } })).map(
      ({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`,
    );
  assert.deepEqual(conditionsOf('Running'), []);
  assert.deepEqual(conditionsOf('Succeeded'), [
    'Completed True Succeeded: The pod has completed successfully.',
  ]);
  assert.deepEqual(conditionsOf('Failed'), ['Completed True Failed: The pod failed.']);
});
