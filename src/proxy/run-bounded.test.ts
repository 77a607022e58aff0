import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeClock } from '../host/fake-clock.ts';
import { startBoundedRun } from './run-bounded.ts';

function setUp(run?: (n: number) => Promise<boolean>) {
  const clock = createFakeClock();
  const stop = new AbortController();
  const runs: string[] = [];
  const bounded = startBoundedRun(
    {
      clock,
      minIntervalMs: 1000,
      maxIntervalMs: 30_000,
      run: (reason) => {
        runs.push(`${clock.now()} ${reason}`);
        return run === undefined ? Promise.resolve(true) : run(runs.length);
      },
    },
    stop.signal,
  );
  return { clock, stop, runs, bounded };
}

describe('startBoundedRun()', () => {
  it('runs at once, then collects requests for the minimum interval (KPX-40)', async () => {
    const { clock, runs, bounded } = setUp();
    await clock.advance(0);
    bounded.request();
    bounded.request();
    await clock.advance(999);
    assert.deepEqual(runs, ['0 change']);
    await clock.advance(1);
    assert.deepEqual(runs, ['0 change', '1000 change']);
  });
  it('runs a single request at once after the minimum interval (KPX-40)', async () => {
    const { clock, runs, bounded } = setUp();
    await clock.advance(5000);
    bounded.request();
    await clock.advance(0);
    assert.deepEqual(runs, ['0 change', '5000 change']);
  });
  it('counts from the end of the previous run, and never runs concurrently', async () => {
    let finish = (_: boolean): void => {};
    const { clock, runs, bounded } = setUp(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    await clock.advance(0);
    bounded.request();
    await clock.advance(7000);
    assert.equal(runs.length, 1);
    finish(true);
    await clock.advance(999);
    assert.equal(runs.length, 1);
    await clock.advance(1);
    assert.deepEqual(runs, ['0 change', '8000 change']);
  });
  it('retries after a failure with back-off, and at once for a new request', async () => {
    const { clock, runs, bounded } = setUp((n) => Promise.resolve(n > 4));
    await clock.advance(8000);
    assert.deepEqual(runs, ['0 change', '1000 change', '3000 change', '7000 change']);
    bounded.request();
    await clock.advance(0);
    assert.equal(runs.at(-1), '8000 change');
  });
  it('ends after the current run', async () => {
    let finish = (_: boolean): void => {};
    const { clock, stop, bounded } = setUp(
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    await clock.advance(0);
    let isOver = false;
    void bounded.ended.then(() => {
      isOver = true;
    });
    stop.abort();
    await clock.settle();
    assert.equal(isOver, false);
    finish(true);
    await bounded.ended;
    assert.equal(clock.waiting(), 0);
  });
});

describe('startBoundedRun() without an interval', () => {
  it('waits in proportion to the last run where no interval is given (KPX-40)', async () => {
    const clock = createFakeClock();
    const stop = new AbortController();
    const starts: number[] = [];
    const lengths = [2, 100, 600, 0];
    const bounded = startBoundedRun(
      {
        ...{ clock, maxIntervalMs: 30_000 },
        run: () => {
          const length = lengths[starts.length] ?? 0;
          starts.push(clock.now());
          return new Promise((resolve) => clock.after(length, () => resolve(true)));
        },
      },
      stop.signal,
    );
    for (let ms = 0; ms < 3000; ms += 1) {
      if (starts.length < lengths.length) bounded.request();
      await clock.advance(1);
    }
    // 10 ms at least, four times 100 ms, and a second at most.
    assert.deepEqual(starts, [0, 12, 512, 2112]);
    stop.abort();
  });
  it('retries a failed run at most every second where no interval is given', async () => {
    const clock = createFakeClock();
    const stop = new AbortController();
    const starts: number[] = [];
    const bounded = startBoundedRun(
      {
        ...{ clock, maxIntervalMs: 30_000 },
        run: () => {
          starts.push(clock.now());
          return Promise.resolve(false);
        },
      },
      stop.signal,
    );
    for (let ms = 0; ms < 2500; ms += 1) {
      bounded.request();
      await clock.advance(1);
    }
    assert.deepEqual(starts, [0, 1000, 2000]);
    stop.abort();
  });
});

describe('startBoundedRun() periodically', () => {
  it('runs after the maximum interval without a request', async () => {
    const { clock, runs } = setUp();
    await clock.advance(60_000);
    assert.deepEqual(runs, ['0 change', '30000 period', '60000 period']);
  });
  it('runs under constant requests, one request after it is due', async () => {
    const { clock, runs, bounded } = setUp();
    for (let passed = 0; passed < 65_000; passed += 500) {
      bounded.request();
      await clock.advance(500);
    }
    const periodicRuns = runs.filter((run) => run.endsWith('period'));
    assert.deepEqual(periodicRuns, ['31000 period', '62000 period']);
    assert.equal(runs.length, 66);
  });
  it('runs when it is due although a request ran shortly before', async () => {
    const { clock, runs, bounded } = setUp();
    await clock.advance(20_000);
    bounded.request();
    await clock.advance(10_000);
    assert.deepEqual(runs, ['0 change', '20000 change', '30000 period']);
  });
});
