import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSchedule } from '../../kinds/cron-job/parse-schedule.ts';
import { findTimeZone, utc } from '../../kinds/cron-job/time-zone.ts';
import type { CronJob } from '../../kinds/cron-job/types.ts';
import { exampleJob } from '../../kinds/job/example.ts';
import type { Job } from '../../kinds/job/types.ts';
import { formatTime } from '../../schema/time.ts';
import { findDue, isTooLate, surplusJobs } from './desired.ts';
import { newJob } from './new-job.ts';

const cronJob = (spec: object = {}, status: object = {}): CronJob => ({
  kind: 'CronJob',
  apiVersion: 'batch/v1',
  metadata: { name: 'tick', namespace: 'default', creationTimestamp: '2026-01-01T00:00:30Z' },
  spec: {
    schedule: '* * * * *',
    jobTemplate: { metadata: { labels: { a: 'b' } }, spec: exampleJob().spec },
    ...spec,
  },
  status,
});

const due = (text: string, now: string, object = cronJob()) => {
  const schedule = parseSchedule(text);
  assert.ok(!('error' in schedule));
  const found = findDue({ cronJob: object, schedule, zone: utc, now: Date.parse(now) });
  if (found === undefined) return undefined;
  const { scheduledAt, hasManyMissed, waitMs } = found;
  return [scheduledAt === undefined ? undefined : formatTime(scheduledAt), hasManyMissed, waitMs];
};
const since = (lastScheduleTime: string, spec: object = {}): CronJob =>
  cronJob(spec, { lastScheduleTime });

for (const [what, found, expected] of [
  ['not due yet', due('* * * * *', '2026-01-01T00:00:40Z'), [undefined, false, 20_100]],
  ['due', due('* * * * *', '2026-01-01T00:01:00Z'), ['2026-01-01T00:01:00Z', false, 60_100]],
  [
    'some missed',
    due('0 * * * *', '2026-01-01T05:30:00Z'),
    ['2026-01-01T05:00:00Z', false, 1_800_100],
  ],
  [
    'many missed',
    due('0 * * * *', '2026-02-01T05:30:00Z'),
    ['2026-02-01T05:00:00Z', true, 1_800_100],
  ],
  [
    'the last one was started',
    due('0 * * * *', '2026-01-01T05:30:00Z', since('2026-01-01T05:00:00Z')),
    [undefined, false, 1_800_100],
  ],
  [
    'a deadline, before which nothing counts',
    due('0 * * * *', '2026-01-01T05:30:00Z', cronJob({ startingDeadlineSeconds: 60 })),
    [undefined, false, 1_800_100],
  ],
  ['never', due('0 0 31 2 *', '2026-01-01T05:30:00Z'), undefined],
  [
    'an interval from its last start on',
    due('@every 7m', '2026-01-01T00:20:00Z', since('2026-01-01T00:00:10Z')),
    ['2026-01-01T00:14:10Z', false, 70_100],
  ],
] as const) {
  test(`findDue(): ${what}`, () => assert.deepEqual(found, expected));
}

test('isTooLate() compares with the deadline', () => {
  const at = Date.parse('2026-01-01T00:00:00Z');
  const object = cronJob({ startingDeadlineSeconds: 10 });
  assert.deepEqual(
    [isTooLate(object, at, at + 10_000), isTooLate(object, at, at + 10_001)],
    [false, true],
  );
  assert.equal(isTooLate(cronJob(), at, at + 1e9), false);
});

test('surplusJobs() are the oldest that have finished, of each kind', () => {
  const job = (name: string, minute: number, type?: string): Job =>
    exampleJob({
      metadata: { name },
      status: {
        startTime: `2026-01-01T00:0${minute}:00Z`,
        ...(type === undefined ? {} : { conditions: [{ type, status: 'True' }] }),
      },
    });
  const jobs = [
    job('c', 3, 'Complete'),
    job('a', 1, 'Complete'),
    job('b', 2, 'Complete'),
    job('x', 1, 'Failed'),
    job('running', 0),
  ];
  const names = (spec: object) =>
    surplusJobs(cronJob(spec), jobs).map(({ metadata }) => metadata.name);
  assert.deepEqual(names({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 1 }), ['a', 'b']);
  assert.deepEqual(names({ successfulJobsHistoryLimit: 9, failedJobsHistoryLimit: 0 }), ['x']);
  assert.deepEqual(names({}), []);
});

test('newJob() is named for its minute, and says when it was to start', () => {
  const at = Date.parse('2026-07-01T10:00:00Z');
  const job = newJob(cronJob({ timeZone: 'America/St_Johns' }), at);
  assert.equal(job.metadata.name, `tick-${at / 60_000}`);
  assert.deepEqual(job.metadata.annotations, {
    'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-07-01T07:30:00-02:30',
  });
  assert.deepEqual(job.metadata.labels, { a: 'b' });
  assert.ok(findTimeZone('America/St_Johns'));
});
