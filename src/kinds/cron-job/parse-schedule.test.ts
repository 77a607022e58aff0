import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maxScheduleLength, parseSchedule } from './parse-schedule.ts';

const minutesOf = (text: string): readonly number[] => {
  const schedule = parseSchedule(`${text} * * * *`);
  assert.ok('minutes' in schedule, JSON.stringify(schedule));
  return [...schedule.minutes.values].sort((a, b) => a - b);
};

for (const [text, minutes] of [
  ['5', [5]],
  ['1-3', [1, 2, 3]],
  ['*/20', [0, 20, 40]],
  ['50/5', [50, 55]],
  ['10-20/5', [10, 15, 20]],
  ['1,2,1', [1, 2]],
  [',', []],
  ['+7', [7]],
] as const) {
  test(`parseSchedule() reads minutes ${text}`, () => assert.deepEqual(minutesOf(text), minutes));
}

test('parseSchedule() reads names in any case, and ? as *', () => {
  const schedule = parseSchedule('0 0 ? JAN-mar Mon');
  assert.ok('months' in schedule);
  assert.deepEqual([...schedule.months.values], [1, 2, 3]);
  assert.deepEqual([...schedule.daysOfWeek.values], [1]);
  assert.ok(schedule.daysOfMonth.isAny);
});

test('parseSchedule() reads descriptors', () => {
  assert.deepEqual(parseSchedule('@every 1h30m'), { everyMs: 5_400_000 });
  assert.deepEqual(parseSchedule('@every 1.5s'), { everyMs: 1000 });
  assert.deepEqual(parseSchedule('@every 10ms'), { everyMs: 1000 });
  assert.deepEqual(parseSchedule('@midnight'), parseSchedule('0 0 * * *'));
  assert.deepEqual(parseSchedule('@yearly'), parseSchedule('0 0 1 1 *'));
});

for (const [text, error] of [
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['0 0 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['* * * * 7', 'end of range (7) above maximum (6): 7'],
  ['-1 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['*/1/2 * * * *', 'too many slashes: */1/2'],
  ['*/-1 * * * *', 'negative number (-1) not allowed: -1'],
  ['0 0 * foo *', 'failed to parse int from foo: strconv.Atoi: parsing "foo": invalid syntax'],
  ['@every 1d', 'failed to parse duration @every 1d: time: unknown unit "d" in duration "1d"'],
  ['@every 1', 'failed to parse duration @every 1: time: missing unit in duration "1"'],
  ['@every ', 'failed to parse duration @every : time: invalid duration ""'],
  ['@never', 'unrecognized descriptor: @never'],
] as const) {
  test(`parseSchedule() refuses "${text}"`, () => {
    assert.deepEqual(parseSchedule(text), { error });
  });
}

test('parseSchedule() reads a text of the maximum length in one pass', () => {
  const many = '0-59/1,'.repeat(maxScheduleLength / 8);
  assert.equal(minutesOf(many).length, 60);
  assert.ok('error' in parseSchedule('-'.repeat(maxScheduleLength)));
});
