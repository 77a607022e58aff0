import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { incompleteBeta, shareInterval } from './statistics.ts';

const near = (actual: number, expected: number, tolerance = 1e-9): void =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual}, want ${expected}`);

describe('incompleteBeta()', () => {
  const cases: readonly (readonly [number, number, number, number])[] = [
    // I_x(1, b) = 1 - (1 - x)^b, I_x(a, 1) = x^a.
    [0.3, 1, 5, 1 - 0.7 ** 5],
    [0.3, 4, 1, 0.3 ** 4],
    [0.5, 7, 7, 0.5],
    // At least 3 of 10 with a chance of 0.2; at least 2 of 20 with 0.01.
    [0.2, 3, 8, 0.3222004736],
    [0.01, 2, 19, 1 - 0.99 ** 20 - 20 * 0.01 * 0.99 ** 19],
    [0, 2, 3, 0],
    [1, 2, 3, 1],
  ];
  for (const [x, a, b, expected] of cases) {
    it(`of ${x} with ${a} and ${b}`, () => near(incompleteBeta(x, a, b), expected, 1e-10));
  }
  it('is what the sum of the binomial tail is', () => {
    const [n, p] = [60, 0.37];
    let term = (1 - p) ** n;
    let below = 0;
    for (let k = 0; k < n; k += 1) {
      below += term;
      near(incompleteBeta(p, k + 1, n - k), 1 - below, 1e-11);
      term *= ((n - k) / (k + 1)) * (p / (1 - p));
    }
  });
  it('holds for millions', () => near(incompleteBeta(0.5, 1_000_000, 1_000_000), 0.5, 1e-6));
});

describe('shareInterval()', () => {
  it('has bounds at which the count is as rare as it may be', () => {
    const { low, high } = shareInterval({ hits: 30, trials: 90, comparisons: 1 });
    near(incompleteBeta(low, 30, 61), 0.0005, 1e-9);
    near(1 - incompleteBeta(high, 31, 60), 0.0005, 1e-9);
    assert.ok(low > 0.18 && high < 0.52);
  });
  it('is wider for more comparisons', () => {
    const one = shareInterval({ hits: 30, trials: 90, comparisons: 1 });
    const many = shareInterval({ hits: 30, trials: 90, comparisons: 100 });
    assert.ok(many.low < one.low && many.high > one.high);
  });
  it('knows nothing without trials, and the ends with all or none', () => {
    assert.deepEqual(shareInterval({ hits: 0, trials: 0, comparisons: 3 }), { low: 0, high: 1 });
    const none = shareInterval({ hits: 0, trials: 20, comparisons: 1 });
    assert.equal(none.low, 0);
    near(none.high, 1 - 0.0005 ** (1 / 20), 1e-9);
    const all = shareInterval({ hits: 20, trials: 20, comparisons: 1 });
    assert.equal(all.high, 1);
    near(all.low, 0.0005 ** (1 / 20), 1e-9);
  });
  it('does not take two connections of a hundred endpoints for skew, as Wilson would', () => {
    for (const hits of [2, 3, 4])
      assert.ok(shareInterval({ hits, trials: 20 * hits, comparisons: 100 }).low < 0.01, `${hits}`);
  });
  it('narrows around a share of a million connections', () => {
    const { low, high } = shareInterval({ hits: 250_000, trials: 1_000_000, comparisons: 4 });
    near(low, 0.25, 0.002);
    near(high, 0.25, 0.002);
  });
  it('holds what it promises: fewer false alarms than one in a thousand, counted exactly', () => {
    for (const [trials, chance] of [
      [12, 0.5],
      [40, 0.25],
      [200, 0.02],
    ] as const) {
      let term = (1 - chance) ** trials;
      let missed = 0;
      for (let hits = 0; hits <= trials; hits += 1) {
        const { low, high } = shareInterval({ hits, trials, comparisons: 1 });
        if (chance < low || chance > high) missed += term;
        term *= ((trials - hits) / (hits + 1)) * (chance / (1 - chance));
      }
      assert.ok(missed <= 0.001, `${missed} of ${trials}`);
    }
  });
});
