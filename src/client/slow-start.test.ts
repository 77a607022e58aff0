import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slowStart } from './slow-start.ts';

test('slowStart() doubles', () => {
  assert.deepEqual(slowStart(0), []);
  assert.deepEqual(slowStart(1), [1]);
  assert.deepEqual(slowStart(10), [1, 2, 4, 3]);
});
