import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitsInteger } from './fits-integer.ts';

const cases: readonly (readonly [text: string, bits: 32 | 64, fits: boolean])[] = [
  ['0', 32, true],
  ['-0', 32, true],
  ['+7', 32, true],
  ['2147483647', 32, true],
  ['2147483648', 32, false],
  ['-2147483648', 32, true],
  ['9223372036854775807', 64, true],
  ['9223372036854775808', 64, false],
  ['-9223372036854775808', 64, true],
  ['00000000000000000000000000000012', 64, true],
  ['', 64, false],
  ['-', 64, false],
  ['1.0', 64, false],
  ['1e3', 64, false],
  ['1'.repeat(3_000_000), 64, false],
];

for (const [text, bits, fits] of cases) {
  test(`fitsInteger() of "${text.slice(0, 40)}" in ${bits} bits`, () => {
    assert.equal(fitsInteger(text, bits), fits);
  });
}
