import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sizeText } from './image-output.ts';

const cases: readonly (readonly [number, string])[] = [
  [0, '0B'],
  [999, '999B'],
  [1000, '1kB'],
  [1234, '1.23kB'],
  [12_345_678, '12.3MB'],
  [999_999_999, '1GB'],
  [20 * 2 ** 30, '21.5GB'],
];

describe('sizeText()', () => {
  for (const [bytes, text] of cases) {
    it(`writes ${bytes} as ${text}`, () => assert.equal(sizeText(bytes), text));
  }
});
