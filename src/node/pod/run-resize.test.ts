import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../../kinds/pod/example.ts';
import type { ResourceRequirements } from '../../kinds/pod/resources.ts';
import type { Containers } from './active-containers.ts';
import type { ContainerRecord } from './container-record.ts';
import { planResize, type ResizeStep, resizeContainers } from './run-resize.ts';

const quantities = (cpu: string): ResourceRequirements => ({ limits: { cpu }, requests: { cpu } });
const podOf = (cpu: string) =>
  examplePod({
    metadata: { generation: 2 },
    spec: { containers: [{ name: 'app', image: 'i', resources: quantities(cpu) }] },
  });

/** One running container with one CPU; the kernel refuses more than four. */
function oneContainer(more: Partial<ContainerRecord> = {}) {
  const set: unknown[] = [];
  const events: string[] = [];
  const running = {
    setResources(resources: ResourceRequirements) {
      if (Number(resources.limits?.cpu) > 4) throw new Error('too much');
      set.push(resources);
    },
  };
  const record: ContainerRecord = {
    state: { kind: 'running', id: 'process://1', startedAt: 0 },
    restartCount: 0,
    isStarted: true,
    isReady: true,
    resources: quantities('1'),
    ...more,
  };
  const containers = {
    parts: {
      events: { record: (_: unknown, { reason }: { reason: string }) => events.push(reason) },
    },
    records: { app: record },
    active: new Map([['app', { running }]]),
    changed: () => {},
  } as unknown as Containers;
  return { containers, set, events };
}

test('resizeContainers() sets changed resources once', () => {
  const { containers, set, events } = oneContainer();
  resizeContainers(containers, podOf('2'));
  resizeContainers(containers, podOf('2'));
  assert.deepEqual(set, [quantities('2')]);
  assert.deepEqual(containers.records.app?.resources, quantities('2'));
  assert.deepEqual(events, ['ResizeCompleted']);
});

test('resizeContainers() records a failed resize once, retries it, and clears it when it is resolved', () => {
  const { containers, set, events } = oneContainer();
  resizeContainers(containers, podOf('8'));
  resizeContainers(containers, podOf('8'));
  assert.deepEqual(containers.records.app?.resources, quantities('1'));
  assert.equal(containers.records.app?.resizeProblem, 'too much');
  resizeContainers(containers, podOf('1'));
  assert.equal(containers.records.app?.resizeProblem, undefined);
  assert.deepEqual([set, events], [[], ['ResizeError']]);
});

test('resizeContainers() ignores a container that is being stopped', () => {
  const { containers, set } = oneContainer({ isStopping: true });
  resizeContainers(containers, podOf('2'));
  assert.deepEqual(set, []);
});

const bothOf = (cpu: string, memory: string) => ({
  requests: { cpu },
  limits: { cpu: '2', memory },
});
const current = bothOf('1', '1Gi');
const restart = (resourceName: string) => [{ resourceName, restartPolicy: 'RestartContainer' }];

const cases: readonly (readonly [string, Parameters<typeof planResize>, ResizeStep])[] = [
  ['the same resources', [current, { resources: current }], 'none'],
  ['changed resources', [current, { resources: bothOf('2', '1Gi') }], 'change'],
  ['a new limit', [{}, { resources: current }], 'change'],
  [
    'a resource with resizePolicy RestartContainer',
    [current, { resources: bothOf('1', '2Gi'), resizePolicy: restart('memory') }],
    'restart',
  ],
  [
    'a resource without a resizePolicy beside one with RestartContainer',
    [current, { resources: bothOf('2', '1Gi'), resizePolicy: restart('memory') }],
    'change',
  ],
  ['no resources at all', [undefined, { resources: {} }], 'none'],
];

for (const [title, args, expected] of cases) {
  test(`planResize() of ${title}`, () => assert.equal(planResize(...args), expected));
}
