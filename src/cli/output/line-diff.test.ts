import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lineDiff } from './line-diff.ts';

const lines = (text: string): string => text.replaceAll(' ', '\n');

describe('lineDiff()', () => {
  const cases: readonly (readonly [title: string, before: string, after: string, diff: string])[] =
    [
      ['is empty for equal texts', 'a b', 'a b', ''],
      [
        'shows what surrounds a change',
        'a b c d e f g',
        'a b c X e f g',
        '  b,  c,- d,+ X,  e,  f',
      ],
      [
        'marks what it leaves out between changes',
        'a b c d e f g h',
        'X b c d e f g Y',
        '- a,+ X,  b,  c,  ...,  f,  g,- h,+ Y',
      ],
      ['shows added lines', 'a b', 'a b c', '  a,  b,+ c'],
      ['shows removed lines', 'a b c', 'a c', '  a,- b,  c'],
    ];
  for (const [title, before, after, diff] of cases) {
    it(title, () => assert.equal(lineDiff(lines(before), lines(after)).join(), diff));
  }

  it('shows long texts as replaced', () => {
    const long = 'a\n'.repeat(3000);
    assert.equal(lineDiff(`${long}b`, `${long}c`).length, 6002);
  });
});
