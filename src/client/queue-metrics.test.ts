import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../host/fake-clock.ts';
import { silentLog } from '../observe/log.ts';
import { createMetrics } from '../observe/metrics.ts';
import { createQueueMetrics } from './queue-metrics.ts';
import { startReconciler } from './reconcile.ts';

test('createQueueMetrics() measures depth, waiting and work times, and retries', async () => {
  const clock = createFakeClock();
  const registry = createMetrics();
  const metrics = createQueueMetrics(registry, clock);
  const stop = new AbortController();
  let release = (): void => {};
  let tries = 0;
  const reconcile = async (key: string): Promise<undefined> => {
    if (key === 'slow') {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return;
    }
    tries += 1;
    if (tries === 1) throw new Error('not yet');
  };
  const { queue, ended } = startReconciler(
    { name: 'q', reconcile, clock, log: silentLog, metrics },
    stop.signal,
  );
  const value = (name: string): number | undefined => {
    const line = registry
      .text()
      .split('\n')
      .find((l) => l.startsWith(`workqueue_${name} `));
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')));
  };
  const of = (name: string): number | undefined => value(`${name}{name="q"}`);
  assert.equal(of('depth'), 0);
  queue.add('slow');
  queue.add('other');
  queue.add('other');
  await clock.advance(2000);
  assert.deepEqual([of('adds_total'), of('depth')], [2, 1]);
  assert.deepEqual(
    [of('unfinished_work_seconds'), of('longest_running_processor_seconds')],
    [2, 2],
  );
  release();
  await clock.advance(10_000);
  assert.deepEqual([of('depth'), of('retries_total'), of('unfinished_work_seconds')], [0, 1, 0]);
  assert.equal(of('adds_total'), 3);
  assert.equal(of('queue_duration_seconds_sum'), 2);
  assert.equal(of('work_duration_seconds_sum'), 2);
  assert.equal(of('work_duration_seconds_count'), 3);
  stop.abort();
  await ended;
});
