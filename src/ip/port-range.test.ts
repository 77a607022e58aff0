import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containsPort, formatPortRange, parsePortRange, portCount } from './port-range.ts';

const cases: readonly (readonly [string, string | undefined])[] = [
  ['30000-32767', '30000-32767'],
  ['30000+2767', '30000-32767'],
  ['30000', '30000-30000'],
  ['0-0', '0-0'],
  ['65000+9999', '65000-65535'],
  ['30001-30000', undefined],
  ['30000-65536', undefined],
  ['-1', undefined],
  ['a-b', undefined],
  ['', undefined],
];

for (const [text, expected] of cases) {
  test(`parsePortRange() of "${text}"`, () => {
    const range = parsePortRange(text);
    assert.equal(range === undefined ? undefined : formatPortRange(range), expected);
  });
}

test('a range includes both ends', () => {
  const range = { first: 30000, last: 32767 };
  assert.equal(containsPort(range, 30000), true);
  assert.equal(containsPort(range, 32767), true);
  assert.equal(containsPort(range, 32768), false);
  assert.equal(portCount(range), 2768);
});
