import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endOfPrefix, keyAfter, rangeStart } from './key-range.ts';

for (const [prefix, end] of [
  ['/a/', '2f6130'],
  ['', '00'],
  ['a', '62'],
] as const) {
  test(`endOfPrefix() of "${prefix}" is the first key after all that start with it`, () => {
    assert.equal(Buffer.from(endOfPrefix(prefix)).toString('hex'), end);
  });
}

test('keyAfter() lies between a key and every longer one', () => {
  assert.ok(Buffer.compare(Buffer.from(keyAfter('/a')), Buffer.from('/a')) > 0);
  assert.ok(Buffer.compare(Buffer.from(keyAfter('/a')), Buffer.from('/a\u0001')) < 0);
});

for (const [storePrefix, prefix, start] of [
  ['', '', ''],
  ['', '/a/', '/a/'],
  ['/fairlead', '', '/fairlead/'],
  ['/fairlead', '/registry/', '/fairlead/registry/'],
  ['/case/', '', '/case/'],
] as const) {
  test(`rangeStart() of "${prefix}" in the store "${storePrefix}" is "${start}"`, () => {
    assert.equal(rangeStart(storePrefix, prefix), start);
  });
}
