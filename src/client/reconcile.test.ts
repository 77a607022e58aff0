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

test('what fails is tried again with back-off until it works', async () => {
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

test('a result can ask to come back later', async () => {
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

test('a result cannot ask to come back at once: the wait grows until there is nothing more to do', async () => {
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
  // Done once, it starts anew.
  assert.deepEqual(tries.slice(5), [1000, 1010, 1030]);
  stop.abort();
  await ended;
});

test('a time that is over waits all the same', async () => {
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

test('a terminal error and too many retries end the trying, and are logged', async () => {
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
    assert.deepEqual(lines, ['reconcile failed, will not retry']);
    stop.abort();
    await ended;
  }
});

test('as many keys are worked on at a time as allowed, and the end waits for them', async () => {
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

test('what is awaited is told once, then only to who looks closely', async () => {
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
  assert.equal(first, 'info reconcile failed, will retry');
  assert.equal(others.length, 7);
  assert.ok(others.every((line) => line.startsWith('debug ')));
  stop.abort();
  await ended;
});
