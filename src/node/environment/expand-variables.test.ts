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
  test(`expandVariables() makes "${want}" of "${text}"`, () => {
    assert.equal(expandVariables(text, variables), want);
  });
}

test('expandPath() wants a value for every name', () => {
  assert.deepEqual(expandPath('$(A)/$$(A)', variables), { path: 'one/$(A)' });
  assert.deepEqual(expandPath('$(UNKNOWN)/$(EMPTY)/$(A)', variables), {
    missing: ['EMPTY', 'UNKNOWN'],
  });
});
