import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printable, printableLines } from './printable.ts';

describe('printable()', () => {
  const cases: readonly (readonly [title: string, text: string, expected: string])[] = [
    ['leaves text alone', 'pod "wéb-1" is 🐢 → ready', 'pod "wéb-1" is 🐢 → ready'],
    [
      'writes out escape sequences',
      '\u001b[31mred\u001b]0;title\u0007',
      '\\x1b[31mred\\x1b]0;title\\x07',
    ],
    ['writes out those of eight bits', '\u009b2J', '\\x9b2J'],
    ['stays on one line', 'a\r\nb\tc', 'a\\r\\nb\\tc'],
    ['shows what reverses text', 'a\u202eb\u2066c', 'a\\u202eb\\u2066c'],
  ];
  for (const [title, text, expected] of cases) {
    it(title, () => assert.equal(printable(text), expected));
  }
});

describe('printableLines()', () => {
  it('keeps lines and tabs', () => {
    assert.equal(printableLines('* a\n\t* b\u001b[2J\r'), '* a\n\t* b\\x1b[2J\\r');
  });
});
