import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Excess, findExcess, findExcessIn } from './value-count.ts';

const limits = { values: 20, members: 10 };

const cases: readonly (readonly [what: string, text: string, excess: Excess | undefined])[] = [
  ['few', '[1,2,3]', undefined],
  ['members at the limit', `[${'1,'.repeat(9)}1]`, undefined],
  ['one item more', `[${'1,'.repeat(10)}1]`, 'members'],
  ['one member more', `{${[...'abcdefghijk'].map((key) => `"${key}":1`).join(',')}}`, 'members'],
  ['members after a list', `{"a":[${'1,'.repeat(9)}1],"b":[${'1,'.repeat(7)}1]}`, undefined],
  ['values at the limit', `[[${'1,'.repeat(9)}1],[1,2,3,4,5,6,7,8]]`, undefined],
  ['one value more', `[[${'1,'.repeat(9)}1],[1,2,3,4,5,6,7,8,9]]`, 'values'],
  ['empty lists', `[[[],[],[],[],[]],[[],[],[],[],[]]]`, 'values'],
  ['empty objects', `{"a":[{},{},{},{},{}],"b":[{},{},{},{},{}]}`, 'values'],
  ['depth', `${'['.repeat(21)}${']'.repeat(21)}`, 'values'],
  ['a long text of commas', JSON.stringify(',"[{,'.repeat(20)), undefined],
  ['escapes before a quote', `["\\\\",${'"\\",",'.repeat(4)}"${'x'.repeat(30)}"]`, undefined],
];

for (const [what, text, excess] of cases) {
  test(`a text and its value have the same count: ${what}`, () => {
    assert.equal(findExcess(text, limits), excess);
    assert.equal(findExcessIn(JSON.parse(text), limits), excess);
  });
}

test('invalid JSON is counted to its end', () => {
  assert.equal(findExcess(']]]'.repeat(100), limits), undefined);
  assert.equal(findExcess(','.repeat(100), limits), 'members');
});

test('a value of any depth is counted', () => {
  let value: unknown = 1;
  for (let depth = 0; depth < 100_000; depth += 1) value = [value];
  assert.equal(findExcessIn(value), 'values');
});
