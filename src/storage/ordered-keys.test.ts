import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareKeys, createOrderedKeys } from './ordered-keys.ts';

const sample = [
  '',
  'a',
  'a\u0000',
  'a/',
  'ab',
  'é',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '😀',
  '😀a',
  '𐀀',
];

test('compareKeys() orders as the UTF-8 bytes do', () => {
  for (const a of sample) {
    for (const b of sample) {
      const wanted = Buffer.compare(Buffer.from(a), Buffer.from(b));
      assert.equal(Math.sign(compareKeys(a, b)), wanted, `${a} and ${b}`);
    }
  }
});

test('createOrderedKeys() holds what a sorted set holds, through splits and emptied blocks', () => {
  const keys = createOrderedKeys(['b', 'a']);
  const reference = new Set(['a', 'b']);
  // A linear congruence: the same keys in the same order each time.
  let seed = 1;
  for (let step = 0; step < 6_000; step++) {
    seed = (seed * 48_271) % 2_147_483_647;
    const key = `k${seed % 1_800}`;
    const isGoing = step > 3_000 ? seed % 5 !== 0 : seed % 5 === 0;
    if (isGoing) keys.delete(key);
    else keys.add(key);
    if (isGoing) reference.delete(key);
    else reference.add(key);
    // Walked now and then: after few new keys, and after many.
    if (step % 700 < 20) assert.equal([...keys.from('')].length, reference.size);
  }
  const sorted = [...reference].sort(compareKeys);
  assert.deepEqual([...keys.from('')], sorted);
  for (const start of ['a', 'k1', 'k17x', 'k999', 'z']) {
    assert.deepEqual(
      [...keys.from(start)],
      sorted.filter((key) => compareKeys(key, start) >= 0),
    );
  }
});

test('createOrderedKeys() starts empty and becomes empty', () => {
  const keys = createOrderedKeys();
  assert.deepEqual([...keys.from('')], []);
  keys.delete('absent');
  keys.add('a');
  keys.add('a');
  keys.delete('a');
  assert.deepEqual([...keys.from('')], []);
});
