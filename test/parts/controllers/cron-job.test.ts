// Cron jobs against the whole API server. Time stands still until a test moves it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { CronJob } from '../../../src/kinds/cron-job/types.ts';
import type { Event } from '../../../src/kinds/event/types.ts';
import type { Job } from '../../../src/kinds/job/types.ts';
import type { Pod } from '../../../src/kinds/pod/types.ts';
import { formatTime } from '../../../src/schema/time.ts';
import { type ControllerHarness, startControllerHarness } from '../harness/controller-harness.ts';

let harness: ControllerHarness;
before(async () => {
  harness = await startControllerHarness();
});
after(() => harness.stop());

const minuteMs = 60_000;
const path = (ns: string, plural: string): string => `/apis/batch/v1/namespaces/${ns}/${plural}`;
const jobsIn = (ns: string): Promise<readonly Job[]> => harness.list<Job>(path(ns, 'jobs'));
const cronJob = (ns: string): Promise<CronJob> =>
  harness.api.get<CronJob>(`${path(ns, 'cronjobs')}/tick`);
const template = {
  spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
};

async function make(ns: string, spec: object): Promise<void> {
  await harness.makeNamespace(ns);
  await harness.api.post(path(ns, 'cronjobs'), {
    metadata: { name: 'tick' },
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template } }, ...spec },
  });
}

async function succeed(ns: string): Promise<void> {
  for (const { metadata } of await harness.list<Pod>(`/api/v1/namespaces/${ns}/pods`))
    await harness.api.patch(`/api/v1/namespaces/${ns}/pods/${metadata.name}/status`, {
      status: { phase: 'Succeeded' },
    });
}

/** In steps, so that each minute is seen. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5000) await harness.clock.advance(Math.min(left, 5000));
}

const reasonsIn = async (ns: string): Promise<readonly (string | undefined)[]> =>
  (await harness.list<Event>(`/api/v1/namespaces/${ns}/events`)).map(({ reason }) => reason);

test('a job starts every minute, and as many stay as the history has room for', async () => {
  await make('minutes', { successfulJobsHistoryLimit: 2 });
  for (let minute = 0; minute < 4; minute += 1) {
    await pass(minuteMs);
    await succeed('minutes');
  }
  await harness.until(
    'the history is short',
    async () => {
      await succeed('minutes');
      const { active = [] } = (await cronJob('minutes')).status;
      return (await jobsIn('minutes')).length - active.length === 2;
    },
    30_000,
  );
  const { status } = await cronJob('minutes');
  assert.ok(status.lastSuccessfulTime);
  const [job] = await jobsIn('minutes');
  const scheduled = job?.metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp'];
  assert.match(scheduled ?? '', /^2026-01-01T00:0[0-9]:00Z$/);
  const at = Date.parse(scheduled ?? '') / minuteMs;
  assert.equal(job?.metadata.name, `tick-${at}`);
  assert.equal(job?.metadata.ownerReferences?.[0]?.kind, 'CronJob');
});

test('while a job runs, Forbid starts none, Replace another, Allow one more', async () => {
  await make('forbid', { concurrencyPolicy: 'Forbid' });
  await make('replace', { concurrencyPolicy: 'Replace' });
  await make('allow', { concurrencyPolicy: 'Allow' });
  await harness.until(
    'each has started one',
    async () => {
      const all = await Promise.all(['forbid', 'replace', 'allow'].map(jobsIn));
      return all.every((jobs) => jobs.length === 1);
    },
    2 * minuteMs,
  );
  const firstOf = async (ns: string): Promise<string | undefined> =>
    (await jobsIn(ns))[0]?.metadata.uid;
  const [forbidden, replaced] = [await firstOf('forbid'), await firstOf('replace')];
  await pass(minuteMs);
  assert.deepEqual(
    (await jobsIn('forbid')).map(({ metadata }) => metadata.uid),
    [forbidden],
  );
  await harness.until('it is replaced', async () => {
    const jobs = await jobsIn('replace');
    return jobs.length === 1 && jobs[0]?.metadata.uid !== replaced;
  });
  assert.ok((await jobsIn('allow')).length >= 2);
  assert.ok((await reasonsIn('forbid')).includes('JobAlreadyActive'));
});

test('a suspended one starts nothing, and what is too late is not made up for', async () => {
  await make('suspended', { suspend: true });
  await make('late', { schedule: '0 0 1 1 *', startingDeadlineSeconds: 10 });
  await harness.api.patch(`${path('late', 'cronjobs')}/tick/status`, {
    status: { lastScheduleTime: '2024-01-01T00:00:00Z' },
  });
  await pass(3 * minuteMs);
  assert.deepEqual(await jobsIn('suspended'), []);
  assert.deepEqual(await jobsIn('late'), []);
});

test('of years of missed starts the last is made up for', async () => {
  await make('years', { schedule: '0 0 1 * *', suspend: true });
  await harness.api.patch(`${path('years', 'cronjobs')}/tick/status`, {
    status: { lastScheduleTime: '2012-01-01T00:00:00Z' },
  });
  await harness.api.patch(`${path('years', 'cronjobs')}/tick`, { spec: { suspend: false } });
  await harness.until('one job', async () => (await jobsIn('years')).length === 1);
  await pass(minuteMs);
  assert.equal((await jobsIn('years')).length, 1);
  assert.equal((await cronJob('years')).status.lastScheduleTime, '2026-01-01T00:00:00Z');
  assert.ok((await reasonsIn('years')).includes('TooManyMissedTimes'));
});

test('a schedule that is never due says so', async () => {
  await make('never', { schedule: '0 0 31 2 *' });
  await pass(minuteMs);
  assert.deepEqual(await jobsIn('never'), []);
  assert.ok((await reasonsIn('never')).includes('InvalidSchedule'));
});

test('a thousand that are due at the same second start one job each', async () => {
  await harness.makeNamespace('many');
  const due = new Date(harness.clock.now() + 2 * minuteMs);
  const schedule = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
  const count = 1000;
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      harness.api.post(path('many', 'cronjobs'), {
        metadata: { name: `c${index}` },
        spec: {
          schedule,
          jobTemplate: { spec: { suspend: true, template } },
        },
      }),
    ),
  );
  await pass(2 * minuteMs);
  await harness.until('all have started', async () => (await jobsIn('many')).length >= count);
  await pass(5000);
  assert.equal((await jobsIn('many')).length, count);
  const times = new Set(
    (await harness.list<CronJob>(path('many', 'cronjobs'))).map(
      ({ status }) => status.lastScheduleTime,
    ),
  );
  assert.equal(times.size, 1);
  assert.ok([...times].every((time) => (time ?? '') <= formatTime(harness.clock.now())));
});
