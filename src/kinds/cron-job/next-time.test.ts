import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime } from '../../schema/time.ts';
import { lastTime, nextTime } from './next-time.ts';
import { parseSchedule, type Schedule } from './parse-schedule.ts';
import { findTimeZone, type TimeZone, utc } from './time-zone.ts';

const schedule = (text: string): Schedule => {
  const parsed = parseSchedule(text);
  assert.ok(!('error' in parsed), JSON.stringify(parsed));
  return parsed;
};
const zone = (name: string): TimeZone => {
  const found = findTimeZone(name);
  assert.ok(found, name);
  return found;
};
const next = (text: string, after: string, where = utc): string | undefined => {
  const time = nextTime(schedule(text), where, Date.parse(after));
  return time === undefined ? undefined : formatTime(time);
};

for (const [text, after, expected] of [
  ['* * * * *', '2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'],
  ['* * * * *', '2026-01-01T00:00:59Z', '2026-01-01T00:01:00Z'],
  ['0 0 1 1 *', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['30 6-16/4 * * 1-5', '2026-01-02T15:00:00Z', '2026-01-05T06:30:00Z'],
  ['0 12 13 * 5', '2026-01-01T00:00:00Z', '2026-01-02T12:00:00Z'],
  ['0 12 13 * *', '2026-01-01T00:00:00Z', '2026-01-13T12:00:00Z'],
  ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00Z'],
  ['0 0 31 2 *', '2026-01-01T00:00:00Z', undefined],
  [', * * * *', '2026-01-01T00:00:00Z', undefined],
  ['@every 90s', '2026-01-01T00:00:10Z', '2026-01-01T00:01:40Z'],
] as const) {
  test(`nextTime() of "${text}" after ${after}`, () => assert.equal(next(text, after), expected));
}

test('nextTime() leaves out what a spring forward skips', () => {
  const berlin = zone('Europe/Berlin');
  assert.equal(next('30 2 * * *', '2026-03-28T12:00:00Z', berlin), '2026-03-30T00:30:00Z');
  assert.equal(next('30 3 * * *', '2026-03-28T12:00:00Z', berlin), '2026-03-29T01:30:00Z');
  assert.equal(next('0 * * * *', '2026-03-29T00:30:00Z', berlin), '2026-03-29T01:00:00Z');
});

test('nextTime() repeats what a fall back repeats', () => {
  const york = zone('America/New_York');
  assert.equal(next('0 1 * * *', '2026-10-31T12:00:00Z', york), '2026-11-01T05:00:00Z');
  assert.equal(next('0 1 * * *', '2026-11-01T05:00:00Z', york), '2026-11-01T06:00:00Z');
  assert.equal(next('0 1 * * *', '2026-11-01T06:00:00Z', york), '2026-11-02T06:00:00Z');
});

test('nextTime() follows zones with offsets of minutes', () => {
  assert.equal(
    next('0 9 * * *', '2026-06-01T00:00:00Z', zone('Asia/Kathmandu')),
    '2026-06-01T03:15:00Z',
  );
  assert.equal(
    next('0 0 1 7 *', '2026-01-01T00:00:00Z', zone('Europe/Berlin')),
    '2026-06-30T22:00:00Z',
  );
});

test('lastTime() finds the last of many that were missed', () => {
  const last = (text: string, after: string, now: string): string | undefined => {
    const time = lastTime(schedule(text), utc, { after: Date.parse(after), now: Date.parse(now) });
    return time === undefined ? undefined : formatTime(time);
  };
  assert.equal(
    last('0 0 1 1 *', '2024-01-01T00:00:00Z', '2026-06-01T00:00:00Z'),
    '2026-01-01T00:00:00Z',
  );
  assert.equal(
    last('* * * * *', '1990-01-01T00:00:00Z', '2026-06-01T00:00:30Z'),
    '2026-06-01T00:00:00Z',
  );
  assert.equal(last('* * * * *', '2026-06-01T00:00:00Z', '2026-06-01T00:00:30Z'), undefined);
  assert.equal(
    last('@every 1h', '2026-06-01T00:00:10Z', '2026-06-01T05:30:00Z'),
    '2026-06-01T05:00:10Z',
  );
  // Minutes of one month, and then none for eleven.
  assert.equal(
    last('* * * 1 *', '2020-02-01T00:00:00Z', '2026-12-01T00:00:00Z'),
    '2026-01-31T23:59:00Z',
  );
});

for (const name of [
  'UTC',
  'Etc/UTC',
  'Europe/Berlin',
  'US/Pacific',
  'Etc/GMT+5',
  'America/Argentina/Ushuaia',
])
  test(`findTimeZone() knows ${name}`, () => assert.ok(findTimeZone(name)));
for (const name of [
  'Mars/Olympus',
  'europe/berlin',
  'local',
  '../x',
  '+01:00',
  '',
  'A'.repeat(10_000),
])
  test(`findTimeZone() does not know "${name.slice(0, 20)}"`, () =>
    assert.equal(findTimeZone(name), undefined));
