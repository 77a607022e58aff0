import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../kinds/node/types.ts';
import type { Pod } from '../kinds/pod/types.ts';
import type { Service } from '../kinds/service/types.ts';
import { lastAppliedAnnotation } from '../meta/well-known-annotations.ts';
import { describeNodeChange, nodeFacts } from './describe-node.ts';
import { describePodChange, podFacts } from './describe-pod.ts';
import { describeServiceChange } from './describe-service.ts';
import { exampleNode, examplePod, exampleService } from './example.ts';

const ports = (...all: readonly object[]): Service => exampleService({ ports: all });
const noted = (annotations: object, labels: object = {}): Service =>
  exampleService({}, { annotations, labels });

const serviceCases: readonly (readonly [title: string, Service, Service, readonly string[]])[] = [
  ['says nothing where nothing changed', exampleService(), exampleService(), []],
  [
    'names both selectors',
    exampleService(),
    exampleService({ selector: { app: 'wbe', tier: 'a' } }),
    ['selector changed from app=web to app=wbe,tier=a'],
  ],
  [
    'says that a selector is gone',
    exampleService(),
    exampleService({ selector: {} }),
    ['selector app=web removed'],
  ],
  [
    'names any field, once',
    exampleService({ clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] }),
    exampleService({
      clusterIP: '10.0.0.2',
      clusterIPs: ['10.0.0.2'],
      type: 'NodePort',
      newField: { a: 1 },
    }),
    [
      'clusterIPs changed from 10.0.0.1 to 10.0.0.2',
      'newField set to {"a":1}',
      'type changed from ClusterIP to NodePort',
    ],
  ],
  [
    'finds ports by their names',
    ports({ name: 'http', port: 80, targetPort: 8080 }, { name: 'old', port: 1 }),
    ports(
      { name: 'http', port: 80, targetPort: 9090, nodePort: 30000 },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ),
    [
      'port changed from http 80/TCP to 8080 to http 80/TCP to 9090, node port 30000',
      'port old 1/TCP removed',
      'port dns 53/UDP added',
    ],
  ],
  [
    'shows no values of annotations',
    noted({ a: 'secret', b: 'x' }, { app: 'one' }),
    noted({ a: 'other', c: 'y', [lastAppliedAnnotation]: '{}' }, { app: 'two' }),
    ['label app changed', 'annotation a changed', 'annotation b removed', 'annotation c added'],
  ],
  [
    'counts what is too much',
    noted({}),
    noted(Object.fromEntries(Array.from({ length: 5000 }, (_none, at) => [`k${at}`, '']))),
    [
      ...[0, 1, 10, 100, 1000, 1001, 1002, 1003].map((at) => `annotation k${at} added`),
      '4992 more annotations changed',
    ],
  ],
  [
    'says what holds a deletion',
    exampleService(),
    exampleService({}, { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['f'] }),
    ['Service is being deleted, held by f'],
  ],
  [
    'names the load balancer',
    exampleService(),
    {
      ...exampleService(),
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    } as Service,
    ['load balancer set to 192.0.2.1'],
  ],
];

describe('describeServiceChange()', () => {
  for (const [title, before, after, expected] of serviceCases) {
    it(title, () => {
      const found = describeServiceChange(before, after).map(({ sentence }) => sentence);
      assert.deepEqual(found, expected);
    });
  }
  it('cuts what is long', () => {
    const after = exampleService({
      externalIPs: Array.from({ length: 10_000 }, () => '192.0.2.1'),
    });
    const [change] = describeServiceChange(exampleService(), after);
    assert.ok((change?.sentence.length ?? 0) < 400);
  });
});

const ready = (status: string, reason = '', message = '') => ({
  conditions: [{ type: 'Ready', status, reason, message }],
});
const container = (state: object, restartCount = 0, lastState: object = {}) => ({
  containerStatuses: [
    { name: 'c', state, restartCount, lastState, ready: false, image: '', imageID: '' },
  ],
});
const waiting = (reason: string, message = '') => ({ waiting: { reason, message } });

const podCases: readonly (readonly [
  string,
  Pod | undefined,
  Pod | undefined,
  readonly string[],
])[] = [
  ['says that it was created', undefined, examplePod(), ['PodCreated: pod web-1 created']],
  [
    'says for whom, and where',
    undefined,
    examplePod(
      {},
      {
        ownerReferences: [
          {
            kind: 'ReplicaSet',
            name: 'web-7',
            controller: true,
            uid: '1',
            apiVersion: 'apps/v1',
          },
        ],
      },
      { nodeName: 'a' },
    ),
    ['PodCreated: pod web-1 created for ReplicaSet web-7 on node a'],
  ],
  ['says that it was deleted', examplePod(), undefined, ['PodDeleted: pod web-1 deleted']],
  [
    'says where it was scheduled',
    examplePod(),
    examplePod({}, {}, { nodeName: 'a' }),
    ['PodScheduled: pod web-1 scheduled to node a'],
  ],
  [
    'says that it became ready',
    examplePod(),
    examplePod(ready('True')),
    ['PodReady: pod web-1 became ready'],
  ],
  [
    'says why it became not ready',
    examplePod(ready('True')),
    examplePod(ready('False', 'ContainersNotReady', 'probe failed')),
    ['PodNotReady: pod web-1 became not ready: ContainersNotReady: probe failed'],
  ],
  [
    'says that it terminates',
    examplePod(),
    examplePod({}, { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 }),
    ['PodTerminating: pod web-1 is terminating, with 30 s to end'],
  ],
  [
    'says how it ended',
    examplePod(),
    examplePod({ phase: 'Failed', reason: 'Evicted', message: 'no memory' }),
    ['PodFinished: pod web-1 failed: Evicted: no memory'],
  ],
  [
    'does not warn of the exit code of what was to end',
    examplePod({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    examplePod({ phase: 'Failed' }, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    ['PodFinished: pod web-1 has ended'],
  ],
  [
    'says why a container restarted',
    examplePod(container({ running: {} })),
    examplePod(
      container({ running: {} }, 3, { terminated: { exitCode: 137, reason: 'OOMKilled' } }),
    ),
    ['ContainerRestarted: container c of pod web-1 restarted, restart 3: exit code 137, OOMKilled'],
  ],
  [
    'says what a container waits for, once',
    examplePod(container(waiting('ContainerCreating'))),
    examplePod(container(waiting('ImagePullBackOff', 'no such image'))),
    ['ContainerWaiting: container c of pod web-1 waits: ImagePullBackOff: no such image'],
  ],
  [
    'does not repeat it',
    examplePod(container(waiting('X', '1'))),
    examplePod(container(waiting('X', '2'))),
    [],
  ],
  [
    'says why it is selected no longer',
    examplePod(),
    examplePod({}, { labels: { app: 'other' } }),
    [
      'PodNotSelected: pod web-1 matches the selector no longer: label app changed from web to other',
    ],
  ],
  [
    'says why it is selected now',
    examplePod({}, { labels: {} }),
    examplePod(),
    ['PodSelected: pod web-1 matches the selector now: label app set to web'],
  ],
];

describe('describePodChange()', () => {
  for (const [title, before, after, expected] of podCases) {
    it(title, () => {
      const found = describePodChange({ before, after, selector: { app: 'web' } });
      assert.deepEqual(
        found.map(({ type, sentence }) => `${type}: ${sentence}`),
        expected,
      );
    });
  }
  it('does not warn of what terminates and so becomes not ready', () => {
    const gone = { deletionTimestamp: '2026-01-01T00:00:00Z' };
    const before = examplePod(ready('True'), gone);
    const [found] = describePodChange({
      before,
      after: examplePod(ready('False'), gone),
      selector: {},
    });
    assert.deepEqual([found?.type, found?.level], ['PodNotReady', 'info']);
  });
  it('cuts long messages', () => {
    const after = examplePod(ready('False', 'X', 'm'.repeat(1_000_000)));
    const [found] = describePodChange({
      before: examplePod(ready('True')),
      after,
      selector: undefined,
    });
    assert.ok((found?.sentence.length ?? 0) < 300);
  });
});

describe('podFacts()', () => {
  it('has the status that kubectl shows', () => {
    const pod = examplePod(
      { ...container(waiting('CrashLoopBackOff'), 4), podIPs: [{ ip: '10.0.0.1' }] },
      { creationTimestamp: '2026-01-01T00:00:00Z' },
      { nodeName: 'a' },
    );
    assert.deepEqual(podFacts(pod), {
      ...{ name: 'web-1', node: 'a', addresses: ['10.0.0.1'], status: 'CrashLoopBackOff' },
      ...{ ready: false, restarts: 4, created: '2026-01-01T00:00:00Z' },
    });
  });
});

describe('describeNodeChange()', () => {
  const cases: readonly (readonly [Node | undefined, Node | undefined, readonly string[]])[] = [
    [undefined, exampleNode('True'), ['node a created']],
    [exampleNode('True'), undefined, ['node a deleted']],
    [exampleNode('True'), exampleNode('Unknown'), ['node a became not ready: KubeletStopped']],
    [exampleNode('Unknown'), exampleNode('True'), ['node a became ready']],
    [
      exampleNode('True'),
      exampleNode('True', { unschedulable: true }),
      ['node a takes no new pods: cordoned'],
    ],
    [
      exampleNode('True', { unschedulable: true }),
      exampleNode('True'),
      ['node a takes new pods again'],
    ],
    [exampleNode('True'), exampleNode('True'), []],
  ];
  for (const [before, after, expected] of cases) {
    it(`says ${expected[0] ?? 'nothing where nothing changed'}`, () => {
      assert.deepEqual(
        describeNodeChange(before, after).map(({ sentence }) => sentence),
        expected,
      );
    });
  }
});

describe('nodeFacts()', () => {
  it('says whether it is ready and takes pods', () => {
    assert.deepEqual(nodeFacts(exampleNode('False', { unschedulable: true })), {
      ...{ name: 'a', ready: false, schedulable: false },
    });
  });
});
