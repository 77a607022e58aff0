import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backupName, oldBackups } from './rotate.ts';

const logFile = { name: 'audit.log', extension: '.log' };
const day = 24 * 3600 * 1000;
const now = Date.UTC(2026, 0, 31, 8, 15, 0, 123);

test('backupName() puts the time before the extension', () => {
  assert.equal(backupName(logFile, now), 'audit-2026-01-31T08-15-00.123.log');
  assert.equal(backupName({ name: 'audit', extension: '' }, now), 'audit-2026-01-31T08-15-00.123');
});

const days = [0, 1, 2, 3].map((ago) => backupName(logFile, now - ago * day));
const others = ['audit.log', 'audit-x.log', 'audit-2026-99-31T08-15-00.123.log', 'other.txt'];

const cases: readonly {
  readonly title: string;
  readonly keep: { readonly maxBackups: number; readonly maxAgeDays: number };
  readonly wanted: readonly (string | undefined)[];
}[] = [
  { title: 'keeps all without limits', keep: { maxBackups: 0, maxAgeDays: 0 }, wanted: [] },
  {
    title: 'removes the oldest beyond the number',
    keep: { maxBackups: 2, maxAgeDays: 0 },
    wanted: [days[2], days[3]],
  },
  {
    title: 'removes those that are too old',
    keep: { maxBackups: 0, maxAgeDays: 2 },
    wanted: [days[3]],
  },
  {
    title: 'removes for either reason',
    keep: { maxBackups: 1, maxAgeDays: 2 },
    wanted: [days[1], days[2], days[3]],
  },
];

for (const { title, keep, wanted } of cases) {
  test(`oldBackups() ${title}`, () => {
    const names = [days[3], ...others, days[0], days[2], days[1]].map(String);
    assert.deepEqual(oldBackups(names, logFile, { ...keep, now }), wanted);
  });
}
