import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { applyDelta, encodeDelta } from './delta.ts';

const endpoint = (n: number, ready: boolean): string =>
  `{"addresses":["10.244.${n >> 8}.${n & 255}"],"conditions":{"ready":${ready},"serving":${ready}},"targetRef":{"kind":"Pod","name":"web-${n}"}}`;
const slice = (version: number, unready: number): string =>
  `{"metadata":{"name":"web","resourceVersion":"${version}"},"endpoints":[${Array.from({ length: 100 }, (_, n) => endpoint(n, n !== unready)).join(',')}]}`;

describe('encodeDelta()', () => {
  const cases: Readonly<Record<string, readonly [string, string]>> = {
    'nothing and nothing': ['', ''],
    'a new object': ['{"a":1}', ''],
    'an object that is gone': ['', '{"a":1}'],
    'equal bytes': [slice(1, 5), slice(1, 5)],
    'two places that differ': [slice(1, 5), slice(2, 70)],
    'bytes that move': [`${'x'.repeat(3000)}${slice(1, 5)}`, `${slice(1, 5)}${'x'.repeat(3000)}`],
    'a run that repeats': ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'aaaaaaaaaaaaaaaaaaaaaaa'],
    'nothing in common': ['a'.repeat(5000), 'b'.repeat(5000)],
  };
  for (const [name, [target, base]] of Object.entries(cases)) {
    it(`is undone by applyDelta(): ${name}`, () => {
      const delta = encodeDelta(Buffer.from(target), Buffer.from(base));
      assert.equal(String(applyDelta(delta, Buffer.from(base))), target);
    });
  }
  it('takes little space where a slice of 100 endpoints changes in two places', () => {
    const delta = encodeDelta(Buffer.from(slice(1, 5)), Buffer.from(slice(2, 70)));
    assert.ok(delta.length < 150, `${delta.length} bytes`);
  });
});

describe('applyDelta()', () => {
  it('refuses a delta of another base, and one that is cut', () => {
    const delta = encodeDelta(Buffer.from(slice(1, 5)), Buffer.from(slice(2, 70)));
    assert.throws(() => applyDelta(delta, Buffer.from('short')), RangeError);
    assert.throws(() => applyDelta(delta.subarray(0, 1), Buffer.from(slice(2, 70))), RangeError);
  });
});
