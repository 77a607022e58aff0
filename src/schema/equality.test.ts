import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deepEqual } from './equality.ts';

const cases: readonly (readonly [string, unknown, unknown, boolean])[] = [
  ['equal scalars', 'a', 'a', true],
  ['different types', 1, '1', false],
  ['keys in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ['an undefined key and an absent one', { a: 1, b: undefined }, { a: 1 }, true],
  ['an empty list and an absent one', { a: [] }, {}, true],
  ['null and an empty list', { a: null }, { a: [] }, true],
  ['an empty object and an absent one', { a: {} }, {}, false],
  ['zero and an absent value', { a: 0 }, {}, false],
  ['lists in another order', [1, 2], [2, 1], false],
  ['lists of other length', [1], [1, 2], false],
  ['nested differences', { a: [{ b: 1 }] }, { a: [{ b: 2 }] }, false],
  ['a list and an object', { a: [1] }, { a: { 0: 1 } }, false],
  ['a surplus key', { a: 1 }, { a: 1, b: 2 }, false],
  ['inherited names', { constructor: undefined }, {}, true],
];

for (const [name, a, b, expected] of cases) {
  test(`deepEqual() of ${name}`, () => {
    assert.equal(deepEqual(a, b), expected);
    assert.equal(deepEqual(b, a), expected);
  });
}
