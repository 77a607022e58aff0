import assert from 'node:assert/strict';
import { test } from 'node:test';
import { widestRanges } from './widest-ranges.ts';

const cases: readonly [string, readonly string[], readonly string[]][] = [
  ['keeps disjoint ranges', ['10.0.0.0/8', '192.0.2.0/24'], ['10.0.0.0/8', '192.0.2.0/24']],
  ['drops nested ranges', ['10.1.0.0/16', '10.0.0.0/8', '10.1.2.3/32'], ['10.0.0.0/8']],
  ['drops duplicates', ['10.0.0.0/8', '10.0.0.0/8'], ['10.0.0.0/8']],
  ['keeps neighbours', ['10.0.0.0/9', '10.128.0.0/9'], ['10.0.0.0/9', '10.128.0.0/9']],
  [
    'writes single addresses without prefix length',
    ['192.0.2.1/32', 'fd00::1/128'],
    ['192.0.2.1', 'fd00::1'],
  ],
];

for (const [title, ranges, expected] of cases) {
  test(`widestRanges() ${title}`, () => assert.deepEqual(widestRanges(ranges), expected));
}

test('widestRanges() drops nested ranges and normalizes single addresses', () => {
  assert.deepEqual(
    widestRanges(['10.0.0.7/32', '10.0.0.0/8', '192.0.2.1', '192.0.2.1/32', '10.1.0.0/16']),
    ['10.0.0.0/8', '192.0.2.1'],
  );
  assert.deepEqual(widestRanges(['fd00::1/128', 'fd01::/16']), ['fd01::/16', 'fd00::1']);
  assert.deepEqual(widestRanges([]), []);
});
