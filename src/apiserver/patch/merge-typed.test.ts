import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as s from '../../schema/node.ts';
import { mergeTyped } from './merge-typed.ts';

const item = s.struct('Item', { name: s.always(s.string()), value: s.string(), note: s.string() });
const schema = s.struct('Thing', {
  items: s.list(item, '', { listType: 'map', keys: ['name'] }),
  values: s.list(s.string(), '', { listType: 'set' }),
  whole: s.list(s.string()),
  labels: s.map(s.string()),
  selector: s.map(s.string(), '', { mapType: 'atomic' }),
  text: s.string(),
});

type Case = readonly [title: string, live: unknown, applied: unknown, merged: unknown];

const named = (text: string) => [...text].map((name) => ({ name }));

const cases: readonly Case[] = [
  ['joins maps', { labels: { a: '1' } }, { labels: { b: '2' } }, { labels: { a: '1', b: '2' } }],
  [
    'replaces atomic maps',
    { selector: { a: '1' } },
    { selector: { b: '2' } },
    { selector: { b: '2' } },
  ],
  ['replaces atomic lists', { whole: ['a'] }, { whole: ['b'] }, { whole: ['b'] }],
  ['sets null', { text: 'a' }, { text: null }, { text: null }],
  ['keeps a list under an applied null', { values: ['a'] }, { values: null }, { values: ['a'] }],
  ['keeps empty apart from absent', {}, { labels: {}, values: [] }, { labels: {}, values: [] }],
  [
    'merges items',
    { items: [{ name: 'a', note: 'n' }] },
    { items: [{ name: 'a', value: 'v' }] },
    { items: [{ name: 'a', note: 'n', value: 'v' }] },
  ],
  ['appends new items', { items: named('ab') }, { items: named('abc') }, { items: named('abc') }],
  [
    'puts new items after live ones before the next shared one',
    { items: named('xa') },
    { items: named('na') },
    { items: named('xna') },
  ],
  [
    'keeps live items in their place',
    { items: named('axb') },
    { items: named('ab') },
    { items: named('axb') },
  ],
  [
    'takes the applied order',
    { items: named('abx') },
    { items: named('ba') },
    { items: named('bxa') },
  ],
  ['joins sets', { values: ['a', 'x'] }, { values: ['b', 'a'] }, { values: ['b', 'a', 'x'] }],
  [
    'replaces items that are ambiguous',
    {
      items: [
        { name: 'a', note: '1' },
        { name: 'a', note: '2' },
      ],
    },
    { items: [{ name: 'a', value: 'v' }] },
    { items: [{ name: 'a', value: 'v' }] },
  ],
  [
    'keeps them if they are not applied',
    { items: named('aab') },
    { items: named('b') },
    { items: named('aab') },
  ],
];

describe('mergeTyped()', () => {
  for (const [title, live, applied, merged] of cases) {
    it(title, () => assert.deepEqual(mergeTyped(schema, live, applied), merged));
  }
});
