import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  annotationsOfCurrent,
  highestRevision,
  revisionAnnotation,
  revisionHistoryAnnotation,
} from './annotations.ts';
import { exampleDeployment, exampleSet } from './example.ts';

const deployment = exampleDeployment({
  metadata: {
    annotations: {
      'kubernetes.io/change-cause': 'why',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      [revisionAnnotation]: '7',
    },
  },
});

test('annotationsOfCurrent() copies annotations and sets the revision', () => {
  assert.deepEqual(annotationsOfCurrent(deployment, {}, 3), {
    'kubernetes.io/change-cause': 'why',
    [revisionAnnotation]: '3',
  });
});

test('annotationsOfCurrent() records previous revisions', () => {
  const again = annotationsOfCurrent(deployment, { [revisionAnnotation]: '1' }, 3);
  assert.equal(again[revisionHistoryAnnotation], '1');
  const third = annotationsOfCurrent(deployment, again, 5);
  assert.equal(third[revisionHistoryAnnotation], '1,3');
  assert.deepEqual(annotationsOfCurrent(deployment, third, 5), third);
});

test('annotationsOfCurrent() drops the oldest entries of a long history', () => {
  const history = Array.from({ length: 500 }, (_, index) => index + 1000).join(',');
  const before = { [revisionAnnotation]: '1500', [revisionHistoryAnnotation]: history };
  const after = annotationsOfCurrent(deployment, before, 1501)[revisionHistoryAnnotation] ?? '';
  assert.ok(after.length <= 2000 && after.endsWith(',1499,1500'));
});

test('highestRevision() is 0 when there is none', () => {
  assert.equal(highestRevision([]), 0);
  const sets = [1, 12, 3].map((revision) =>
    exampleSet(deployment, { name: 'a', replicas: 0, revision }),
  );
  assert.equal(highestRevision(sets), 12);
});
