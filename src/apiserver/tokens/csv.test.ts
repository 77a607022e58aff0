import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCsv } from './csv.ts';

const good: readonly (readonly [string, readonly (readonly [number, ...string[]])[]])[] = [
  ['', []],
  ['a,b,c', [[1, 'a', 'b', 'c']]],
  ['a,b,c\n', [[1, 'a', 'b', 'c']]],
  [
    'a,b\r\nc,d\r\n',
    [
      [1, 'a', 'b'],
      [2, 'c', 'd'],
    ],
  ],
  ['a,,\n', [[1, 'a', '', '']]],
  ['a,', [[1, 'a', '']]],
  ['\n\na\n', [[3, 'a']]],
  ['a,"b,c"\n', [[1, 'a', 'b,c']]],
  ['"say ""no""",b', [[1, 'say "no"', 'b']]],
  [
    '"two\nlines",b\nc',
    [
      [1, 'two\nlines', 'b'],
      [3, 'c'],
    ],
  ],
  ['"",b', [[1, '', 'b']]],
  [' a , b ', [[1, ' a ', ' b ']]],
];

for (const [text, expected] of good) {
  test(`parseCsv() reads ${JSON.stringify(text)}`, () => {
    const records = expected.map(([line, ...fields]) => ({ line, fields }));
    assert.deepEqual(parseCsv(text), { records });
  });
}

const bad: readonly (readonly [string, string])[] = [
  ['a,b"c', 'line 1: a quote in a field that does not begin with one'],
  ['a,b\n"c', 'line 2: a quote is opened and not closed'],
  ['"a"b,c', 'line 1: text follows a closing quote'],
];

for (const [text, error] of bad) {
  test(`parseCsv() refuses ${JSON.stringify(text)}`, () => {
    assert.deepEqual(parseCsv(text), { error });
  });
}
