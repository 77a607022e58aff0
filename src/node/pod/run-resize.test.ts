import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examplePod } from '../../kinds/pod/example.ts';
import type { ResourceRequirements } from '../../kinds/pod/resources.ts';
import type { ContainerRecord } from './container-record.ts';
import type { Containers } from './live-containers.ts';
import { resizeContainers } from './run-resize.ts';

const quantities = (cpu: string): ResourceRequirements => ({ limits: { cpu }, requests: { cpu } });
const podOf = (cpu: string) =>
  examplePod({
    metadata: { generation: 2 },
    spec: { containers: [{ name: 'app', image: 'i', resources: quantities(cpu) }] },
  });

/** One container that runs with one processor; the kernel has no more than four. */
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
    live: new Map([['app', { running }]]),
    changed: () => {},
  } as unknown as Containers;
  return { containers, set, events };
}

test('other amounts are set once', () => {
  const { containers, set, events } = oneContainer();
  resizeContainers(containers, podOf('2'));
  resizeContainers(containers, podOf('2'));
  assert.deepEqual(set, [quantities('2')]);
  assert.deepEqual(containers.records.app?.resources, quantities('2'));
  assert.deepEqual(events, ['ResizeCompleted']);
});

test('what cannot be set is told once, tried again, and forgotten when it is over', () => {
  const { containers, set, events } = oneContainer();
  resizeContainers(containers, podOf('8'));
  resizeContainers(containers, podOf('8'));
  assert.deepEqual(containers.records.app?.resources, quantities('1'));
  assert.equal(containers.records.app?.resizeProblem, 'too much');
  resizeContainers(containers, podOf('1'));
  assert.equal(containers.records.app?.resizeProblem, undefined);
  assert.deepEqual([set, events], [[], ['ResizeError']]);
});

test('a container that ends is left alone', () => {
  const { containers, set } = oneContainer({ isStopping: true });
  resizeContainers(containers, podOf('2'));
  assert.deepEqual(set, []);
});
