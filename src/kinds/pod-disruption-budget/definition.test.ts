import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podDisruptionBudgetDefinition } from './definition.ts';

test('podDisruptionBudgetDefinition refuses a name that is longer than a key of the store, or no segment of a path', () => {
  const { nameRule } = podDisruptionBudgetDefinition;
  assert.deepEqual(nameRule('Any_Name', false), []);
  assert.equal(nameRule('-'.repeat(4000), false).length, 1);
  assert.equal(nameRule('a/b', false).length, 1);
});
