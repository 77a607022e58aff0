import assert from 'node:assert/strict';
import { test } from 'node:test';
import { elementText } from './path-element.ts';

const cases: readonly (readonly [string, string])[] = [
  ['f:name', '.name'],
  ['k:{"port":80,"protocol":"TCP"}', '[port=80,protocol="TCP"]'],
  ['k:{"key":"\\u0007\u200b"}', '[key="\\a\\u200b"]'],
  ['v:"a\\u007f"', '[="a\\x7f"]'],
  ['v:1', '[=1]'],
  ['i:0', '[0]'],
];

for (const [element, wanted] of cases) {
  test(`elementText() shows ${element}`, () => assert.equal(elementText(element), wanted));
}
