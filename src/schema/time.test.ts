import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGoTime } from './go-time.ts';
import { formatMicroTime, formatTime, humanDuration, parseTime } from './time.ts';

const instant = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

test('formatTime() drops fractions, formatMicroTime() has six decimals', () => {
  assert.equal(formatTime(instant), '2026-01-02T03:04:05Z');
  assert.equal(formatMicroTime(instant), '2026-01-02T03:04:05.678000Z');
});

const readable: readonly (readonly [string, string])[] = [
  ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
  ['2026-01-02T03:04:05.999Z', '2026-01-02T03:04:05Z'],
  ['2026-01-02T03:04:05,5Z', '2026-01-02T03:04:05Z'],
  ['2026-01-02T05:04:05+02:00', '2026-01-02T03:04:05Z'],
  ['2026-01-01T21:34:05-05:30', '2026-01-02T03:04:05Z'],
  ['2026-01-02T3:04:05Z', '2026-01-02T03:04:05Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
  ['0099-01-01T00:00:00Z', '0099-01-01T00:00:00Z'],
];

for (const [text, expected] of readable) {
  test(`parseTime() of ${text}`, () => {
    const ms = parseTime(text);
    assert.ok(ms !== undefined);
    assert.equal(formatTime(ms), expected);
  });
}

const layout = '2006-01-02T15:04:05Z07:00';
const errors: readonly (readonly [string, string])[] = [
  ['', `parsing time "" as "${layout}": cannot parse "" as "2006"`],
  ['yesterday', `parsing time "yesterday" as "${layout}": cannot parse "yesterday" as "2006"`],
  ['2026-1-02', `parsing time "2026-1-02" as "${layout}": cannot parse "1-02" as "01"`],
  ['2026-01-02', `parsing time "2026-01-02" as "${layout}": cannot parse "" as "T"`],
  [
    '2026-01-02 03:04:05Z',
    `parsing time "2026-01-02 03:04:05Z" as "${layout}": cannot parse " 03:04:05Z" as "T"`,
  ],
  [
    '2026-01-02T03:04:05',
    `parsing time "2026-01-02T03:04:05" as "${layout}": cannot parse "" as "Z07:00"`,
  ],
  ['2026-13-02T03:04:05Z', 'parsing time "2026-13-02T03:04:05Z": month out of range'],
  ['2026-02-30T03:04:05Z', 'parsing time "2026-02-30T03:04:05Z": day out of range'],
  ['2026-01-02T24:04:05Z', 'parsing time "2026-01-02T24:04:05Z": hour out of range'],
  ['2026-01-02T03:04:60Z', 'parsing time "2026-01-02T03:04:60Z": second out of range'],
  ['2026-01-02T03:04:05Zx', 'parsing time "2026-01-02T03:04:05Zx": extra text: "x"'],
];

for (const [text, error] of errors) {
  test(`parseGoTime() refuses "${text}" in Go's words`, () => {
    assert.deepEqual(parseGoTime('seconds', text), { error });
    assert.equal(parseTime(text), undefined);
  });
}

test('parseGoTime() requires exactly six decimals of a micro time', () => {
  assert.deepEqual(parseGoTime('micros', '2026-01-02T03:04:05.000001Z'), {
    ms: Date.UTC(2026, 0, 2, 3, 4, 5),
    microseconds: 1,
  });
  assert.deepEqual(parseGoTime('micros', '2026-01-02T03:04:05Z'), {
    error:
      'parsing time "2026-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  });
  assert.deepEqual(parseGoTime('micros', '2026-01-02T03:04:05.0000001Z'), {
    error:
      'parsing time "2026-01-02T03:04:05.0000001Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "1Z" as "Z07:00"',
  });
});

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const ages: readonly (readonly [number, string])[] = [
  [-5 * second, '<invalid>'],
  [-1 * second, '0s'],
  [0, '0s'],
  [119 * second, '119s'],
  [2 * minute, '2m'],
  [3 * minute + 12 * second, '3m12s'],
  [10 * minute + 5 * second, '10m'],
  [179 * minute, '179m'],
  [3 * hour, '3h'],
  [7 * hour + 59 * minute, '7h59m'],
  [47 * hour, '47h'],
  [2 * day, '2d'],
  [2 * day + 3 * hour, '2d3h'],
  [8 * day + 3 * hour, '8d'],
  [729 * day, '729d'],
  [730 * day, '2y'],
  [735 * day, '2y5d'],
  [3000 * day, '8y'],
];

for (const [ms, expected] of ages) {
  test(`humanDuration() of ${ms} ms is ${expected}`, () =>
    assert.equal(humanDuration(ms), expected));
}
