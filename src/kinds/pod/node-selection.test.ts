import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeNamed } from '../node/example.ts';
import { examplePod } from './example.ts';

import { hasUntoleratedTaint, isUnschedulable, matchesNodeAffinity } from './node-selection.ts';

const examplePodWith = (spec: object) => examplePod({ spec });

const required = (...nodeSelectorTerms: object[]) => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  },
});
const label = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, values }],
});

const node = nodeNamed('a', { labels: { zone: 'z1', cores: '8' } });
const selections: readonly (readonly [string, object, boolean])[] = [
  ['no constraint', {}, true],
  ['a label it has', { nodeSelector: { zone: 'z1' } }, true],
  ['a label of another value', { nodeSelector: { zone: 'z2' } }, false],
  ['In', required(label('zone', 'In', 'z1', 'z2')), true],
  ['NotIn', required(label('zone', 'NotIn', 'z1')), false],
  ['Exists', required(label('zone', 'Exists')), true],
  ['DoesNotExist', required(label('gpu', 'DoesNotExist')), true],
  ['Gt', required(label('cores', 'Gt', '7')), true],
  ['Lt', required(label('cores', 'Lt', '8')), false],
  ['one of two terms', required(label('zone', 'In', 'z9'), label('cores', 'Exists')), true],
  ['an empty term', required({}), false],
  [
    'its name',
    required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }),
    true,
  ],
  [
    'another name',
    required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['b'] }] }),
    false,
  ],
];

for (const [title, spec, want] of selections) {
  test(`matchesNodeAffinity() by ${title}`, () => {
    assert.equal(matchesNodeAffinity(examplePodWith(spec), node), want);
  });
}

const taint = { key: 'k', value: '5', effect: 'NoSchedule' };
const tolerations: readonly (readonly [string, object, boolean])[] = [
  ['key and value', { key: 'k', value: '5' }, true],
  ['another value', { key: 'k', value: '6' }, false],
  ['key that exists', { key: 'k', operator: 'Exists' }, true],
  ['everything', { operator: 'Exists' }, true],
  ['another key', { key: 'x', operator: 'Exists' }, false],
  ['another effect', { key: 'k', operator: 'Exists', effect: 'NoExecute' }, false],
  ['the effect', { key: 'k', operator: 'Exists', effect: 'NoSchedule' }, true],
  ['numbers below', { key: 'k', operator: 'Lt', value: '6' }, true],
  ['numbers above', { key: 'k', operator: 'Gt', value: '6' }, false],
];

for (const [title, toleration, want] of tolerations) {
  test(`hasUntoleratedTaint() with a toleration of ${title}`, () => {
    const tainted = nodeNamed('a', { spec: { taints: [taint] } });
    const pod = examplePodWith({ tolerations: [toleration] });
    assert.equal(hasUntoleratedTaint(pod, tainted), !want);
  });
}

test('isUnschedulable() is false for pods that tolerate the cordon', () => {
  const cordoned = nodeNamed('a', { spec: { unschedulable: true } });
  const toleration = { key: 'node.kubernetes.io/unschedulable', operator: 'Exists' };
  assert.equal(isUnschedulable(examplePodWith({}), cordoned), true);
  assert.equal(isUnschedulable(examplePodWith({ tolerations: [toleration] }), cordoned), false);
});
