import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFieldSelector } from './fields.ts';

const good: readonly (readonly [string, readonly (readonly [string, string, string])[]])[] = [
  ['', []],
  [',', []],
  ['metadata.name=a', [['metadata.name', '=', 'a']]],
  ['metadata.name==a', [['metadata.name', '=', 'a']]],
  ['status.phase!=Running', [['status.phase', '!=', 'Running']]],
  ['spec.nodeName=', [['spec.nodeName', '=', '']]],
  [
    'b=1,a!=2',
    [
      ['a', '!=', '2'],
      ['b', '=', '1'],
    ],
  ],
  ['a=x\\,y\\=z\\\\', [['a', '=', 'x,y=z\\']]],
  ['=a', [['', '=', 'a']]],
];

for (const [text, expected] of good) {
  test(`parseFieldSelector() of "${text}"`, () =>
    assert.deepEqual(parseFieldSelector(text), {
      selector: expected.map(([field, operator, value]) => ({ field, operator, value })),
    }));
}

const bad: readonly (readonly [string, string])[] = [
  ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
  ['metadata.name>1', "invalid selector: 'metadata.name>1'; can't understand 'metadata.name>1'"],
  ['b,a', "invalid selector: 'b,a'; can't understand 'a'"],
  ['metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\'],
  ['metadata.name=a\\b', 'invalid field selector: invalid escape sequence: \\b'],
  ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
];

for (const [text, error] of bad) {
  test(`parseFieldSelector() refuses "${text}"`, () =>
    assert.deepEqual(parseFieldSelector(text), { error }));
}
