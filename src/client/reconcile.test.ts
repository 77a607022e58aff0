import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../host/fake-clock.ts';
import type { Log } from '../observe/log.ts';
import { silentLog } from '../observe/log.ts';
import {
  NotYetError,
  type Reconcile,
  type ReconcilerOptions,
  startReconciler,
  TerminalError,
} from './reconcile.ts';

function setUp(reconcile: Reconcile, more: Partial<ReconcilerOptions> = {}) {
  const clock = createFakeClock();
  const stop = new AbortController();
  const options = {
    name: 'test',
    reconcile,
    clock,
    log: silentLog,
    backOff: { firstMs: 10, maxMs: 1000 },
    ...more,
  };
  return { clock, stop, ...startReconciler(options, stop.signal) };
}

test('startReconciler() retries a failed key with back-off until it succeeds', async () => {
  const tries: number[] = [];
  const { clock, queue, stop, ended } = setUp(async () => {
    tries.push(clock.now());
    if (tries.length < 4) throw new Error('not yet');
    return undefined;
  });
  queue.add('x');
  await clock.advance(1000);
  assert.deepEqual(tries, [0, 10, 30, 70]);
  stop.abort();
  await ended;
});

test('startReconciler() requeues a key after retryAfterMs', async () => {
  const tries: number[] = [];
  const { clock, queue, stop, ended } = setUp(async () => {
    tries.push(clock.now());
    return tries.length < 3 ? { retryAfterMs: 500 } : undefined;
  });
  queue.add('x');
  await clock.advance(5000);
  assert.deepEqual(tries, [0, 500, 1000]);
  stop.abort();
  await ended;
});

test('startReconciler() requeues with growing waits while the result is `again`', async () => {
  const tries: number[] = [];
  const { clock, queue, stop, ended } = setUp(async () => {
    tries.push(clock.now());
    return tries.length === 5 ? undefined : { again: true };
  });
  queue.add('x');
  await clock.advance(1000);
  assert.deepEqual(tries, [0, 10, 30, 70, 150]);
  queue.add('x');
  await clock.advance(30);
  // A success resets the back-off.
  assert.deepEqual(tries.slice(5), [1000, 1010, 1030]);
  stop.abort();
  await ended;
});

test('startReconciler() waits a minimum when retryAfterMs is not positive', async () => {
  const tries: number[] = [];
  const { clock, queue, stop, ended } = setUp(async () => {
    tries.push(clock.now());
    return { retryAfterMs: -5 };
  });
  queue.add('x');
  await clock.advance(35);
  assert.deepEqual(tries, [0, 10, 20, 30]);
  stop.abort();
  await ended;
});

test('startReconciler() gives up after a TerminalError or maxRetries, and logs it', async () => {
  for (const { error, more, expected } of [
    { error: new TerminalError('never'), more: {}, expected: 1 },
    { error: new Error('no'), more: { maxRetries: 2 }, expected: 3 },
  ]) {
    let tries = 0;
    const lines: string[] = [];
    const log: Log = { ...silentLog, error: (message) => void lines.push(message) };
    const { clock, queue, stop, ended } = setUp(
      async () => {
        tries += 1;
        throw error;
      },
      { ...more, log },
    );
    queue.add('x');
    await clock.advance(100_000);
    assert.equal(tries, expected);
    assert.deepEqual(lines, ['Reconcile failed, giving up']);
    stop.abort();
    await ended;
  }
});

test('startReconciler() runs at most `concurrency` keys at a time, and ends after they have finished', async () => {
  let running = 0;
  let most = 0;
  const finish: (() => void)[] = [];
  const { clock, queue, stop, ended } = setUp(
    async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => finish.push(resolve));
      running -= 1;
      return undefined;
    },
    { concurrency: 2 },
  );
  for (const key of ['a', 'b', 'c']) queue.add(key);
  await clock.settle();
  assert.equal(running, 2);
  stop.abort();
  for (const end of finish) end();
  await ended;
  assert.equal(most, 2);
  assert.equal(running, 0);
});

test('startReconciler() logs a NotYetError at info once, then at debug', async () => {
  const lines: string[] = [];
  const note =
    (level: string) =>
    (message: string): void =>
      void lines.push(`${level} ${message}`);
  const log: Log = {
    ...silentLog,
    ...{ error: note('error'), warn: note('warn'), info: note('info'), debug: note('debug') },
  };
  const reconcile = (): Promise<undefined> => Promise.reject(new NotYetError('no such node'));
  const { clock, queue, stop, ended } = setUp(reconcile, { log, maxRetries: 7 });
  queue.add('x');
  await clock.advance(60_000);
  const [first, ...others] = lines;
  assert.equal(first, 'info Reconcile failed, retrying');
  assert.equal(others.length, 7);
  assert.ok(others.every((line) => line.startsWith('debug ')));
  stop.abort();
  await ended;
});
