import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandPath, expandVariables } from './expand-variables.ts';

const variables = { A: 'one', 'B.C': 'two', EMPTY: '', LOOP: '$(A)' };

for (const [text, want] of [
  ['plain', 'plain'],
  ['$(A) and $(B.C)', 'one and two'],
  ['x$(EMPTY)y', 'xy'],
  ['$(LOOP)', '$(A)'],
  ['$(UNKNOWN)', '$(UNKNOWN)'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$one'],
  ['$A $ $(A', '$A $ $(A'],
  ['$()', '$()'],
] as const) {
  test(`expandVariables() expands "${text}" to "${want}"`, () => {
    assert.equal(expandVariables(text, variables), want);
  });
}

test('expandPath() reports variables without a value', () => {
  assert.deepEqual(expandPath('$(A)/$$(A)', variables), { path: 'one/$(A)' });
  assert.deepEqual(expandPath('$(UNKNOWN)/$(EMPTY)/$(A)', variables), {
    missing: ['EMPTY', 'UNKNOWN'],
  });
});
