import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTextTooDeep, isValueTooDeep } from './nesting.ts';

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const texts: readonly [string, string, boolean][] = [
  ['at the limit', nested(500), false],
  ['over the limit', nested(501), true],
  ['that never closes', '{"a":'.repeat(501), true],
  ['one after the other', `[${'[],'.repeat(1000)}[]]`, false],
  ['of brackets in a string', JSON.stringify('['.repeat(1000)), false],
  ['of brackets after an escaped quote', `["\\"${'['.repeat(1000)}"]`, false],
  ['of a string that never ends', `"${'['.repeat(1000)}`, false],
];

for (const [name, text, expected] of texts) {
  test(`isTextTooDeep() judges a text ${name}`, () => {
    assert.equal(isTextTooDeep(text), expected);
  });
}

test('isValueTooDeep() counts levels without recursion', () => {
  assert.equal(isValueTooDeep(JSON.parse(nested(500))), false);
  assert.equal(isValueTooDeep(JSON.parse(nested(600))), true);
  assert.equal(isValueTooDeep(JSON.parse(nested(200_000))), true);
});
