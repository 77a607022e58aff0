import assert from 'node:assert/strict';
import { test } from 'node:test';
import { widestRanges } from './widest-ranges.ts';

test('widestRanges() leaves out what lies in another, and spells single addresses as such', () => {
  assert.deepEqual(
    widestRanges(['10.0.0.7/32', '10.0.0.0/8', '192.0.2.1', '192.0.2.1/32', '10.1.0.0/16']),
    ['10.0.0.0/8', '192.0.2.1'],
  );
  assert.deepEqual(widestRanges(['fd00::1/128', 'fd01::/16']), ['fd01::/16', 'fd00::1']);
  assert.deepEqual(widestRanges([]), []);
});
