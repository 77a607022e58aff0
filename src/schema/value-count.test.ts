import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasTooManyValues } from './value-count.ts';

const cases: readonly (readonly [what: string, text: string, isTooMany: boolean])[] = [
  ['few', '[1,2,3]', false],
  ['as many as may be', `[${'1,'.repeat(9)}1]`, false],
  ['one more', `[${'1,'.repeat(10)}1]`, true],
  ['empty lists', `[${'[],'.repeat(8)}[]]`, true],
  ['empty objects', `{"a":[${'{},'.repeat(8)}{}]}`, true],
  ['members', `{${'"a":1,'.repeat(10)}"b":1}`, true],
  ['a long text of commas', JSON.stringify(',"[{,'.repeat(20)), false],
  ['escapes before a quote', `["\\\\",${'"\\",",'.repeat(4)}"${'x'.repeat(30)}"]`, false],
];

for (const [what, text, isTooMany] of cases) {
  test(`hasTooManyValues() counts ${what}`, () => {
    assert.equal(hasTooManyValues(text, 10), isTooMany);
  });
}
