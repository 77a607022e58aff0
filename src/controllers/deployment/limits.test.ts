import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleDeployment, exampleSet } from './example.ts';
import { maxSurge, maxUnavailable, nextSizeOfCurrent } from './limits.ts';

type Limit = number | string;
const cases: readonly (readonly [number, Limit, Limit, number, number])[] = [
  // replicas, maxSurge, maxUnavailable → surge, unavailable
  [4, '25%', '25%', 1, 1],
  [3, '25%', '25%', 1, 0],
  [10, '25%', '25%', 3, 2],
  [2, 0, '10%', 0, 1],
  [2, 0, 5, 0, 2],
  [0, '25%', '25%', 0, 0],
  [5, 2, 0, 2, 0],
];

for (const [replicas, surge, unavailable, wantSurge, wantUnavailable] of cases) {
  test(`limits of ${replicas} replicas with maxSurge ${surge} and maxUnavailable ${unavailable}`, () => {
    const rollingUpdate = { maxSurge: surge, maxUnavailable: unavailable };
    const strategy = { type: 'RollingUpdate', rollingUpdate };
    const deployment = exampleDeployment({ spec: { replicas, strategy } });
    assert.equal(maxSurge(deployment), wantSurge);
    assert.equal(maxUnavailable(deployment), wantUnavailable);
  });
}

test('nextSizeOfCurrent() never exceeds maxSurge', () => {
  const deployment = exampleDeployment();
  const old = exampleSet(deployment, { name: 'a', replicas: 4 });
  assert.equal(nextSizeOfCurrent(deployment, [], 0), 4);
  assert.equal(nextSizeOfCurrent(deployment, [old], 0), 1);
  assert.equal(
    nextSizeOfCurrent(deployment, [old, { ...old, spec: { ...old.spec, replicas: 1 } }], 1),
    1,
  );
  const recreate = exampleDeployment({ spec: { strategy: { type: 'Recreate' } } });
  assert.equal(nextSizeOfCurrent(recreate, [old], 0), 4);
});
