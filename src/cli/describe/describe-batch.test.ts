import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleJob } from '../../kinds/job/example.ts';
import { describeBudget } from './describe-budget.ts';
import { describeCronJob, describeJob } from './describe-job.ts';
import { renderFields } from './describe-text.ts';

test('describeJob() says how far the job is', () => {
  const job = exampleJob({
    spec: { completions: 3, completionMode: 'Indexed', activeDeadlineSeconds: 60 },
    status: {
      startTime: '2026-01-01T00:00:00Z',
      completionTime: '2026-01-01T00:01:30Z',
      active: 1,
      ready: 1,
      succeeded: 2,
      completedIndexes: '0,2',
    },
  });
  const text = renderFields(describeJob(job));
  for (const line of [
    /^Selector: +batch\.kubernetes\.io\/controller-uid=job-uid$/m,
    /^Completion Mode: +Indexed$/m,
    /^Active Deadline Seconds: +60s$/m,
    /^Duration: +90s$/m,
    /^Pods Statuses: +1 Active \(1 Ready\) \/ 2 Succeeded \/ 0 Failed$/m,
    /^Completed Indexes: +0,2$/m,
    /^ {6}Image: +i$/m,
  ])
    assert.match(text, line);
});

test('describeCronJob() says when it starts, and what runs', () => {
  const { spec } = exampleJob();
  const text = renderFields(
    describeCronJob({
      kind: 'CronJob',
      apiVersion: 'batch/v1',
      metadata: { name: 'tick' },
      spec: {
        schedule: '*/5 * * * *',
        timeZone: 'Europe/Berlin',
        concurrencyPolicy: 'Forbid',
        jobTemplate: { metadata: {}, spec },
      },
      status: { active: [{ name: 'tick-1' }], lastScheduleTime: '2026-01-01T00:00:00Z' },
    }),
  );
  for (const line of [
    /^Schedule: +\*\/5 \* \* \* \*$/m,
    /^Time Zone: +Europe\/Berlin$/m,
    /^Starting Deadline Seconds: +<unset>$/m,
    /^Active Jobs: +tick-1$/m,
  ])
    assert.match(text, line);
});

test('describeBudget() says what it allows, or why it cannot be calculated', () => {
  const status = { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2, expectedPods: 3 };
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False' as const,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    reason: 'SyncFailed',
    message: 'found no controllers for pod "p"',
  };
  const text = renderFields(
    describeBudget({
      kind: 'PodDisruptionBudget',
      apiVersion: 'policy/v1',
      metadata: { name: 'web' },
      spec: { maxUnavailable: '50%', selector: { matchLabels: { app: 'web' } } },
      status: { ...status, conditions: [condition] },
    }),
  );
  for (const line of [
    /^Max unavailable: +50%$/m,
    /^ {2}Allowed disruptions: +0$/m,
    /^ {2}Not calculated: +found no controllers for pod "p"$/m,
  ])
    assert.match(text, line);
});
