import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { areSimilar, editDistance, similarWord } from './edit-distance.ts';

/** The whole matrix, by the definition. */
function plainDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_row, i) =>
    Array.from({ length: b.length + 1 }, (_cell, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const row = rows[i] ?? [];
      row[j] = Math.min(
        at(i - 1, j) + 1,
        at(i, j - 1) + 1,
        at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
        isSwap ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
  }
  return at(a.length, b.length);
}

/** All words of up to four of two letters. */
const words = [1, 2, 3, 4].reduce<readonly string[]>(
  (all) => [...new Set(all.flatMap((word) => [word, `${word}a`, `${word}b`]))],
  [''],
);

describe('editDistance()', () => {
  it('is the distance within the limit, and undefined beyond it', () => {
    for (const a of words) {
      for (const b of words) {
        const wanted = plainDistance(a, b);
        for (const limit of [1, 2, 3, 80]) {
          assert.equal(editDistance(a, b, limit), wanted > limit ? undefined : wanted, `${a} ${b}`);
        }
      }
    }
  });

  const cases: readonly (readonly [a: string, b: string, distance: number])[] = [
    ['frontend', 'fronted', 1],
    ['web', 'wbe', 1],
    ['kitten', 'sitting', 3],
    ['web-application-1', 'api', 14],
  ];
  for (const [a, b, distance] of cases) {
    it(`of ${a} and ${b} is ${distance}`, () => {
      assert.equal(editDistance(a, b, 80), distance);
      assert.equal(plainDistance(a, b), distance);
    });
  }
});

describe('similarWord()', () => {
  it('finds the nearest', () => {
    assert.equal(similarWord('wbe', ['api', 'web', 'wbee-old']), 'web');
    assert.equal(similarWord('redis', ['redis-master', 'rabbit']), 'redis-master');
    assert.equal(similarWord('db', ['web', 'api']), undefined);
    assert.ok(!areSimilar('', 'a'));
  });
});
