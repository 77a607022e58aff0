import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isJsonObject } from './json-object.ts';

const cases: readonly (readonly [string, unknown, boolean])[] = [
  ['an empty object', {}, true],
  ['an object without a prototype', Object.create(null), true],
  ['an array', [], false],
  ['null', null, false],
  ['undefined', undefined, false],
  ['a string', '{}', false],
  ['a number', 1, false],
];

describe('isJsonObject()', () => {
  for (const [title, value, expected] of cases) {
    it(`is ${expected} for ${title}`, () => assert.equal(isJsonObject(value), expected));
  }
});
