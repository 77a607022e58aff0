import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPercent, scaledValue } from './int-or-string.ts';

const cases: readonly (readonly [number | string, boolean, number])[] = [
  [3, true, 3],
  ['25%', true, 3],
  ['25%', false, 2],
  ['0%', true, 0],
  ['100%', false, 10],
  ['http', true, 0],
];

for (const [value, roundUp, expected] of cases) {
  test(`scaledValue() of ${value} of 10, rounded ${roundUp ? 'up' : 'down'}`, () =>
    assert.equal(scaledValue(value, 10, roundUp), expected));
}

test('isPercent() requires digits and a percent sign', () => {
  assert.equal(isPercent('10%'), true);
  assert.equal(isPercent('10'), false);
  assert.equal(isPercent('-1%'), false);
});
