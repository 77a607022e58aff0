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
  it('runs at once, then collects until the shortest interval is over (KPX-40)', async () => {
    const { clock, runs, bounded } = setUp();
    await clock.advance(0);
    bounded.request();
    bounded.request();
    await clock.advance(999);
    assert.deepEqual(runs, ['0 change']);
    await clock.advance(1);
    assert.deepEqual(runs, ['0 change', '1000 change']);
  });
  it('runs a single change at once when the last run is long over (KPX-40)', async () => {
    const { clock, runs, bounded } = setUp();
    await clock.advance(5000);
    bounded.request();
    await clock.advance(0);
    assert.deepEqual(runs, ['0 change', '5000 change']);
  });
  it('counts from the end of the run before, and never runs twice at once', async () => {
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
  it('tries again after a failure, more and more seldom, and at once for a new change', async () => {
    const { clock, runs, bounded } = setUp((n) => Promise.resolve(n > 4));
    await clock.advance(8000);
    assert.deepEqual(runs, ['0 change', '1000 change', '3000 change', '7000 change']);
    bounded.request();
    await clock.advance(0);
    assert.equal(runs.at(-1), '8000 change');
  });
  it('ends after the run under way', async () => {
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

describe('startBoundedRun() unasked', () => {
  it('looks after the longest interval although nobody asked', async () => {
    const { clock, runs } = setUp();
    await clock.advance(60_000);
    assert.deepEqual(runs, ['0 change', '30000 period', '60000 period']);
  });
  it('looks also where changes never end, one change after it is due', async () => {
    const { clock, runs, bounded } = setUp();
    for (let passed = 0; passed < 65_000; passed += 500) {
      bounded.request();
      await clock.advance(500);
    }
    const looks = runs.filter((run) => run.endsWith('period'));
    assert.deepEqual(looks, ['31000 period', '62000 period']);
    assert.equal(runs.length, 66);
  });
  it('looks when it is due although a change came shortly before', async () => {
    const { clock, runs, bounded } = setUp();
    await clock.advance(20_000);
    bounded.request();
    await clock.advance(10_000);
    assert.deepEqual(runs, ['0 change', '20000 change', '30000 period']);
  });
});
