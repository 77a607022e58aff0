import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../host/fake-clock.ts';
import { createWorkQueue } from './work-queue.ts';

function setUp() {
  const clock = createFakeClock();
  return { clock, queue: createWorkQueue({ clock, backOff: { firstMs: 10, maxMs: 100 } }) };
}

test('add() queues a key once', async () => {
  const { queue } = setUp();
  queue.add('x');
  queue.add('y');
  queue.add('x');
  assert.equal(queue.length(), 2);
  assert.equal(await queue.take(), 'x');
  assert.equal(await queue.take(), 'y');
});

test('take() returns keys in the order in which they were added', async () => {
  const { queue } = setUp();
  const taken: (string | undefined)[] = [];
  const take = async (): Promise<void> => {
    const key = await queue.take();
    taken.push(key);
    queue.done(key ?? '');
  };
  for (const key of ['a', 'b']) queue.add(key);
  await take();
  // Re-added keys go to the end of the queue.
  for (const key of ['c', 'a']) queue.add(key);
  while (queue.length() > 0) await take();
  for (const key of ['b', 'd']) queue.add(key);
  while (queue.length() > 0) await take();
  assert.deepEqual(taken, ['a', 'b', 'c', 'a', 'b', 'd']);
});

test('add() of a key in work queues it again when the work is done', async () => {
  const { queue } = setUp();
  queue.add('x');
  const key = (await queue.take()) ?? '';
  queue.add('x');
  queue.add('x');
  assert.equal(queue.length(), 0);
  queue.done(key);
  assert.equal(queue.length(), 1);
  assert.equal(await queue.take(), 'x');
  queue.done(key);
  assert.equal(queue.length(), 0);
});

test('take() waits for the next key', async () => {
  const { queue } = setUp();
  const taken = queue.take();
  queue.add('x');
  assert.equal(await taken, 'x');
});

test('addAfter() uses the earliest of several delays', async () => {
  const { queue, clock } = setUp();
  queue.addAfter('x', 100);
  queue.addAfter('x', 50);
  queue.addAfter('x', 200);
  await clock.advance(49);
  assert.equal(queue.length(), 0);
  await clock.advance(1);
  assert.equal(queue.length(), 1);
  assert.equal(clock.waiting(), 0);
});

test('retry() backs off up to the limit, until forget()', async () => {
  const { queue, clock } = setUp();
  for (const ms of [10, 20, 40, 80, 100, 100]) {
    queue.retry('x');
    await clock.advance(ms - 1);
    assert.equal(queue.length(), 0);
    await clock.advance(1);
    const key = (await queue.take()) ?? '';
    queue.done(key);
  }
  assert.equal(queue.retries('x'), 6);
  queue.forget('x');
  queue.retry('x');
  await clock.advance(10);
  assert.equal(queue.length(), 1);
});

test('add() limits the rate of a key that its own work adds again', async () => {
  const clock = createFakeClock();
  const queue = createWorkQueue({ clock, keyRate: { burst: 3, perSecond: 10 } });
  const times: number[] = [];
  const work = async (): Promise<void> => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      times.push(clock.now());
      queue.add(key);
      queue.done(key);
    }
  };
  const working = work();
  queue.add('x');
  await clock.advance(350);
  queue.end();
  await working;
  assert.deepEqual(times, [0, 0, 0, 0, 100, 200, 300]);
});

test('take() yields to the event loop even when keys are ready', async () => {
  const clock = createFakeClock();
  const queue = createWorkQueue({ clock });
  let isTimeUp = false;
  setTimeout(() => {
    isTimeUp = true;
  }, 1);
  // Endless keys and work that never waits: without the yield no timer would run.
  for (let n = 0; !isTimeUp; n += 1) {
    queue.add(`${n}`);
    queue.done((await queue.take()) ?? '');
  }
  assert.equal(queue.length(), 0);
});

test('end() resolves waiting takers and drops queued keys', async () => {
  const { queue, clock } = setUp();
  const waiting = queue.take();
  queue.addAfter('y', 10);
  queue.end();
  queue.add('z');
  assert.equal(await waiting, undefined);
  assert.equal(await queue.take(), undefined);
  assert.equal(clock.waiting(), 0);
});
