import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalBase64 } from './base64.ts';

const good: readonly (readonly [string, string])[] = [
  ['', ''],
  ['aGVsbG8=', 'aGVsbG8='],
  ['aGV\r\nsbG8=\n', 'aGVsbG8='],
  ['aA==', 'aA=='],
  ['aB==', 'aA=='],
];

for (const [text, canonical] of good) {
  test(`canonicalBase64() of ${JSON.stringify(text)}`, () =>
    assert.deepEqual(canonicalBase64(text), { canonical }));
}

const bad: readonly (readonly [string, number])[] = [
  ['###', 0],
  ['aGVs!', 4],
  ['aGVsbG', 4],
  ['=', 0],
  ['a===', 1],
  ['aa=', 3],
  ['aa=a', 2],
  ['aGVsbG8=x', 8],
  ['aGVs\u00e9', 4],
];

for (const [text, offset] of bad) {
  test(`canonicalBase64() refuses ${JSON.stringify(text)} where Go does`, () =>
    assert.deepEqual(canonicalBase64(text), {
      error: `illegal base64 data at input byte ${offset}`,
    }));
}
