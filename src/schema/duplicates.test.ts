import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findDuplicateFields } from './duplicates.ts';

const manyKeys = Array.from({ length: 40 }, (_, i) => `"k${i}":${i}`).join(',');

const cases: readonly (readonly [string, string, readonly string[]])[] = [
  ['none', '{"a":1,"b":{"a":2},"c":[{"a":1},{"a":2}]}', []],
  ['the top level', '{"a":1,"a":2}', ['a']],
  ['nested objects', '{"spec":{"type":"A","type":"B"}}', ['spec.type']],
  ['lists', '{"spec":{"ports":[{"port":1},{"port":1,"port":2}]}}', ['spec.ports[1].port']],
  ['lists of lists', '[[1,{"a":1,"a":2}]]', ['[0][1].a']],
  ['three times', '{"a":1,"a":2,"a":3}', ['a']],
  ['in order', '{"b":{"x":1,"x":2},"a":1,"a":2}', ['b.x', 'a']],
  ['keys that only look the same', '{"a":1,"A":2}', []],
  ['escaped keys', '{"a":1,"\\u0061":2}', ['a']],
  ['strings with quotes and brackets', '{"a":"\\"{,}","b":"[\\\\","c":","}', []],
  ['values that look like keys', '{"a":"a","b":["a","a"]}', []],
  ['white space', '{ "a" : 1 ,\n "a" : 2 }', ['a']],
  ['many keys', `{${manyKeys},"k3":1}`, ['k3']],
  ['scalars', '"a"', []],
];

for (const [name, text, expected] of cases) {
  test(`findDuplicateFields() with ${name}`, () =>
    assert.deepEqual(findDuplicateFields(text), expected));
}
