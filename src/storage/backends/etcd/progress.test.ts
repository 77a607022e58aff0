import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendsProgressInOrder } from './progress.ts';

for (const [version, isRight] of [
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
  test(`etcd ${version || 'of no version'} ${isRight ? 'is' : 'is not'} asked for progress`, () => {
    assert.equal(sendsProgressInOrder(version), isRight);
  });
}
