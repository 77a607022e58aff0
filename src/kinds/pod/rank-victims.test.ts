import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podDeletionCostAnnotation } from '../../meta/well-known-annotations.ts';
import { now, podOf } from './example.ts';
import { rankVictims } from './rank-victims.ts';
import type { Pod } from './types.ts';

const first = podOf('first', 3600);
const second = podOf('second', 3600);
const change = (pod: Pod, path: 'spec' | 'status' | 'metadata', values: object): Pod => ({
  ...pod,
  [path]: { ...pod[path], ...values },
});
const cost = (pod: Pod, value: string): Pod =>
  change(pod, 'metadata', { annotations: { [podDeletionCostAnnotation]: value } });
const restarted = (pod: Pod, restartCount: number): Pod =>
  change(pod, 'status', { containerStatuses: [{ restartCount }] });

const cases: readonly (readonly [string, Pod, Pod])[] = [
  ['a pod without a node', change(first, 'spec', { nodeName: '' }), second],
  ['a pending pod', change(first, 'status', { phase: 'Pending' }), second],
  [
    'a pod of unknown state before a running one',
    change(first, 'status', { phase: 'Unknown' }),
    second,
  ],
  ['a pod that is not ready', podOf('first'), second],
  ['a pod with a lower deletion cost', cost(first, '-5'), second],
  ['a pod with a lower cost than one with the annotation', first, cost(second, '7')],
  ['a pod that was ready for less time', podOf('first', 10), podOf('second', 100)],
  ['a pod that was restarted more often', restarted(first, 3), restarted(second, 1)],
  [
    'a younger pod',
    change(podOf('first'), 'metadata', { creationTimestamp: '2026-01-01T23:59:00Z' }),
    podOf('second'),
  ],
  [
    'the lower UID at ages of the same order of magnitude',
    podOf('first', 1000),
    podOf('second', 1001),
  ],
];

for (const [title, victim, other] of cases) {
  test(`rankVictims() selects first ${title}`, () => {
    const ranked = [other, victim].map((pod) => ({ pod, companions: 1 }));
    assert.deepEqual(
      rankVictims(ranked, now).map(({ metadata }) => metadata.name),
      ['first', 'second'],
    );
  });
}

test('rankVictims() selects first from the node with the most related pods', () => {
  const ranked = [
    { pod: podOf('a', 10), companions: 1 },
    { pod: podOf('b', 3600), companions: 3 },
  ];
  assert.equal(rankVictims(ranked, now)[0]?.metadata.name, 'b');
});

test('rankVictims() ignores a deletion cost that is no number', () => {
  const ranked = [cost(first, '07'), cost(second, '-1')].map((pod) => ({ pod, companions: 0 }));
  assert.equal(rankVictims(ranked, now)[0]?.metadata.name, 'second');
});
