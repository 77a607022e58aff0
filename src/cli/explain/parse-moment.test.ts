import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseMoment } from './parse-moment.ts';

const local = (text: string): number => new Date(text).getTime();
const now = local('2026-03-04T12:00:00');
const minuteMs = 60_000;

describe('parseMoment()', () => {
  const moments: readonly (readonly [title: string, text: string, ms: number])[] = [
    ['reads RFC 3339', '2026-03-04T05:06:07Z', Date.parse('2026-03-04T05:06:07Z')],
    ['reads an offset', '2026-03-03T05:06:07.5+02:00', Date.parse('2026-03-03T03:06:07.500Z')],
    ['reads the clock of the wall', '11:58', local('2026-03-04T11:58:00')],
    ['reads its seconds', '9:05:07', local('2026-03-04T09:05:07')],
    ['takes a time that has not come for that of yesterday', '23:50', local('2026-03-03T23:50:00')],
    ['reads how long ago', '10m', now - 10 * minuteMs],
    ['reads it with a sign', '-1h30m', now - 90 * minuteMs],
    ['reads now', '0', now],
    ['trims', ' 10m ', now - 10 * minuteMs],
  ];
  for (const [title, text, ms] of moments) {
    it(title, () => assert.deepEqual(parseMoment(text, now), { ms }));
  }

  for (const text of [
    '',
    'yesterday',
    '25:00',
    '12:60',
    '10',
    '10d',
    '--10m',
    '2026-03-04',
    'x'.repeat(1e6),
  ]) {
    it(`refuses "${text.slice(0, 20)}"`, () => {
      const parsed = parseMoment(text, now);
      assert.ok('error' in parsed && parsed.error.length < 200);
      assert.match(parsed.error, /^".*" is no time, want one like 2026-01-02T15:04:05Z, 15:04, /);
      assert.equal(parsed.isFuture, undefined);
    });
  }

  it('says what is in the future', () => {
    assert.deepEqual(parseMoment('2027-01-01T00:00:00Z', now), {
      error: '2027-01-01T00:00:00Z is in the future',
      isFuture: true,
    });
  });
});
