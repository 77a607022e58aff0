import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trimEnd } from './trim-end.ts';

const cases: readonly (readonly [text: string, characters: string, result: string])[] = [
  ['', '/', ''],
  ['///', '/', ''],
  ['/a/b//', '/', '/a/b'],
  ['a-.-', '-.', 'a'],
  ['a', '/', 'a'],
];

for (const [text, characters, result] of cases) {
  test(`trimEnd() of ${JSON.stringify(text)}`, () => {
    assert.equal(trimEnd(text, characters), result);
  });
}
