import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNumberSet, type NumberSet } from './number-set.ts';

function setOf(...stretches: readonly (readonly [bigint, bigint])[]): NumberSet {
  const set = createNumberSet();
  for (const [from, to] of stretches) for (let n = from; n <= to; n += 1n) set.add(n);
  return set;
}

/** The start of fd00:96::/108: more bits than a double holds. */
const far = 0xfd00_0096_0000_0000_0000_0000_0000_0000n;

const cases: readonly [string, NumberSet, bigint, bigint, bigint | undefined][] = [
  ['nothing is taken', setOf(), 5n, 9n, 5n],
  ['the first are taken', setOf([5n, 6n]), 5n, 9n, 7n],
  ['all are taken', setOf([5n, 9n]), 5n, 9n, undefined],
  ['the gap lies beyond the end, in the same word', setOf([5n, 9n]), 5n, 8n, undefined],
  ['the gap lies before the start', setOf([5n, 9n]), 6n, 9n, undefined],
  ['words are full', setOf([0n, 99n]), 3n, 4095n, 100n],
  ['the last bit of a word is free', setOf([0n, 30n], [32n, 64n]), 0n, 64n, 31n],
  ['a page is full', setOf([0n, 4095n]), 7n, 5000n, 4096n],
  ['pages are full and the next is begun', setOf([0n, 8200n]), 7n, 9000n, 8201n],
  ['a full page ends the range', setOf([0n, 4095n]), 7n, 4095n, undefined],
  ['the range ends in the middle of a taken page', setOf([4000n, 4200n]), 4000n, 4150n, undefined],
  ['numbers are large', setOf([far, far + 4100n]), far + 1n, far + 2n ** 20n, far + 4101n],
  ['the range is empty', setOf(), 5n, 4n, undefined],
];

for (const [what, set, from, to, wanted] of cases) {
  test(`firstGap() is right where ${what}`, () => {
    assert.equal(set.firstGap(from, to), wanted);
  });
}

test('what is removed is a gap again, and what is added twice is there once', () => {
  const set = setOf([0n, 4095n]);
  set.add(77n);
  set.remove(77n);
  assert.equal(set.firstGap(0n, 4095n), 77n);
  set.remove(77n);
  set.add(77n);
  assert.equal(set.firstGap(0n, 4095n), undefined);
  set.clear();
  assert.equal(set.firstGap(3n, 4095n), 3n);
});

test('firstGap() finds what a walk finds, for any taken numbers', () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  const set = createNumberSet();
  const taken = new Set<bigint>();
  for (let round = 0; round < 4000; round += 1) {
    const number = BigInt(random(200) + 4000);
    if (random(3) === 0) {
      set.remove(number);
      taken.delete(number);
    } else {
      set.add(number);
      taken.add(number);
    }
    const from = BigInt(random(220) + 3990);
    const to = from + BigInt(random(100));
    let wanted: bigint | undefined = from;
    while (wanted <= to && taken.has(wanted)) wanted += 1n;
    assert.equal(set.firstGap(from, to), wanted > to ? undefined : wanted);
  }
});
