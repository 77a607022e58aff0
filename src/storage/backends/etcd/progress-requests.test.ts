import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendsProgressInOrder } from './progress-requests.ts';

for (const [version, isOrdered] of [
  ['3.4.23', false],
  ['3.4.31', true],
  ['3.5.12', false],
  ['3.5.13', true],
  ['3.5.13-rc.0', true],
  ['3.3.27', false],
  ['3.6.0', true],
  ['4.0.0', true],
  ['', false],
] as const) {
  test(`sendsProgressInOrder() is ${isOrdered} for etcd ${version || 'without a version'}`, () => {
    assert.equal(sendsProgressInOrder(version), isOrdered);
  });
}
