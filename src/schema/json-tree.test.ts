import assert from 'node:assert/strict';
import { test } from 'node:test';
import { treeFromText, valueOfTree } from './json-tree.ts';

const readBack = (text: string): unknown => valueOfTree(treeFromText(text));

test('valueOfTree() merges objects of a duplicate key, at every depth', () => {
  assert.deepEqual(readBack('{"a":{"x":1,"d":{"y":2}},"a":{"x":3,"d":{"z":4}},"b":[1,1]}'), {
    a: { x: 3, d: { y: 2, z: 4 } },
    b: [1, 1],
  });
});

test('valueOfTree() uses the last value of a duplicate key that is no object', () => {
  assert.deepEqual(readBack('{"a":{"x":1},"a":2}'), { a: 2 });
  assert.deepEqual(readBack('{"a":{"x":1},"a":null,"a":{"y":2},"a":{"z":3}}'), {
    a: { y: 2, z: 3 },
  });
});

test('valueOfTree() of 20,000 duplicate keys takes linear time', () => {
  const members = Array.from({ length: 20_000 }, (_, n) => `"a":{"k${n}":1}`);
  const { a } = readBack(`{${members.join(',')}}`) as { readonly a: object };
  assert.equal(Object.keys(a).length, members.length);
});
