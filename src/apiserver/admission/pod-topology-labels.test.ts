import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMapDefinition } from '../../kinds/config-map/definition.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { examplePod } from '../../kinds/pod/example.ts';
import type { KubeObject } from '../../meta/object.ts';
import { type ExampleWrite, outcomeOf } from './example.ts';
import { podTopologyLabels } from './pod-topology-labels.ts';

const zone = 'topology.kubernetes.io/zone';
const node = (labels: Readonly<Record<string, string>>): KubeObject => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: { name: 'n', labels },
});
const inZone = node({ [zone]: 'a', 'kubernetes.io/os': 'linux' });

function labelsAfter(write: Partial<ExampleWrite>, ...objects: readonly KubeObject[]): unknown {
  const outcome = outcomeOf(podTopologyLabels, { definition: podDefinition, ...write, objects });
  return (outcome as KubeObject).metadata.labels;
}

const made = examplePod({ metadata: { labels: { app: 'web', [zone]: 'old' } } });
const placed = examplePod({ metadata: made.metadata, spec: { nodeName: 'n' } });
const bindingTo = (target: object) => ({
  kind: 'Binding',
  apiVersion: 'v1',
  metadata: { name: 'web', namespace: 'default' },
  target,
});
const binding = bindingTo({ kind: 'Node', name: 'n' });
const vague = bindingTo({ name: 'n' });

const kept = { app: 'web', [zone]: 'old' };
const cases: readonly [title: string, labels: unknown, wanted: unknown][] = [
  ['a pod made on a node', labelsAfter({ after: placed }, inZone), { app: 'web', [zone]: 'a' }],
  ['a pod without a node', labelsAfter({ after: made }, inZone), kept],
  ['a pod on a node without a zone', labelsAfter({ after: placed }, node({})), kept],
  ['a pod on a node that is not there', labelsAfter({ after: placed }), kept],
  ['an update', labelsAfter({ after: placed, operation: 'update' }, inZone), kept],
  ['a status', labelsAfter({ after: placed, subresource: 'status' }, inZone), kept],
  ['a binding', labelsAfter({ after: binding, subresource: 'binding' }, inZone), { [zone]: 'a' }],
  [
    'a binding to something else',
    labelsAfter({ after: vague, subresource: 'binding' }, inZone),
    undefined,
  ],
  ['another kind', labelsAfter({ definition: configMapDefinition, after: placed }, inZone), kept],
];

for (const [title, labels, wanted] of cases) {
  test(`PodTopologyLabels and ${title}`, () => assert.deepEqual(labels, wanted));
}
