import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createNumberSet } from './number-set.ts';
import { lowerBandSize, pickFree } from './pick-free.ts';

const bands = { first: 1n, upper: 4n, last: 6n };

/** What is picked when these are allocated and the random position is the given one. */
function pick(taken: readonly bigint[], position: number): bigint | undefined {
  const random = (below: number): number => Math.min(position, below - 1);
  const set = createNumberSet();
  for (const number of taken) set.add(number);
  return pickFree({ bands, firstFree: set.firstGap, pending: new Set(), random });
}

test('pickFree() starts anywhere in the upper band and wraps inside it (IPA-07, NPT-03)', () => {
  assert.equal(pick([], 0), 4n);
  assert.equal(pick([], 2), 6n);
  assert.equal(pick([6n], 2), 4n);
  assert.equal(pick([6n, 4n], 2), 5n);
});

test('pickFree() uses the lower band when the upper is full, and then nothing (IPA-07, NPT-03)', () => {
  assert.equal(pick([4n, 5n, 6n], 1), 2n);
  assert.equal(pick([4n, 5n, 6n, 2n, 3n], 1), 1n);
  assert.equal(pick([1n, 2n, 3n, 4n, 5n, 6n], 0), undefined);
});

test('pickFree() never exceeds the range of the random generator', () => {
  const wide = { first: 0n, upper: 0n, last: 2n ** 64n };
  let requestedBound = 0;
  const random = (below: number): number => {
    requestedBound = below;
    return below - 1;
  };
  assert.equal(
    pickFree({ bands: wide, firstFree: (from) => from, pending: new Set(), random }),
    2n ** 47n - 1n,
  );
  assert.equal(requestedBound, 2 ** 47);
});

test('pickFree() picks a pending number only when no other is free', () => {
  const pending = new Set<bigint>();
  const next = (): bigint | undefined =>
    pickFree({
      bands,
      firstFree: (from, to) => (from <= to ? from : undefined),
      pending,
      random: () => 0,
    });
  const given = Array.from({ length: 7 }, next);
  assert.deepEqual(given, [4n, 5n, 6n, 1n, 2n, 3n, 4n]);
});

test('lowerBandSize() is a share within limits, and nothing of little (IPA-05, IPA-06, NPT-02)', () => {
  const addresses = { share: 16n, min: 16n, max: 256n };
  const sizes = [16n, 32n, 256n, 4096n, 65536n].map((size) => lowerBandSize(size, addresses));
  assert.deepEqual(sizes, [0n, 16n, 16n, 256n, 256n]);
  assert.equal(lowerBandSize(2768n, { share: 32n, min: 16n, max: 128n }), 86n);
});
