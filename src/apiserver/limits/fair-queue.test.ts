import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFairQueue, type FairQueue, type Flow, NoSeat } from './fair-queue.ts';

const here = (): AbortSignal => new AbortController().signal;
const long = 600_000;

function taken(queue: FairQueue, user: string): Flow {
  const flow = queue.enter(user, here);
  assert.ok(!(flow instanceof Promise), `${user} waits`);
  return flow;
}

/** Enters as somebody who has to wait, and notes when he no longer does. */
function waiting(queue: FairQueue, user: string, seated: string[] = []): Promise<Flow> {
  const turn = queue.enter(user, here);
  assert.ok(turn instanceof Promise, `${user} does not wait`);
  turn.then(
    () => seated.push(user),
    () => {},
  );
  return turn;
}

test('enter() seats at once while there are seats, and one user on half of them', () => {
  const queue = createFairQueue({ seats: 4, queueLength: 1, waitMs: long });
  taken(queue, 'a');
  taken(queue, 'a');
  void waiting(queue, 'a');
  taken(queue, 'b');
  taken(queue, 'b');
  assert.equal(queue.taken(), 4);
  assert.equal(queue.waiting(), 1);
});

test('leave() gives the seat to the users in turn, not to who has the longest queue', async () => {
  const queue = createFairQueue({ seats: 2, queueLength: 10, waitMs: long });
  const atWork = [taken(queue, 'x'), taken(queue, 'y')];
  const seated: string[] = [];
  for (const user of ['a', 'a', 'a', 'b', 'c', 'c']) {
    void waiting(queue, user, seated).then((flow) => atWork.push(flow));
  }
  for (let left = 0; left < 8; left += 1) {
    const done = atWork.shift();
    assert.ok(done !== undefined);
    queue.leave(done);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(seated, ['a', 'b', 'c', 'a', 'c', 'a']);
});

test('everybody who waits is seated in the end, and the seats come back', async () => {
  const queue = createFairQueue({ seats: 3, queueLength: 100, waitMs: long });
  const work = async (user: string): Promise<void> => {
    const flow = await queue.enter(user, here);
    assert.ok(queue.taken() <= 3);
    assert.ok(flow.taken <= 2, 'half of the seats');
    await Promise.resolve();
    queue.leave(flow);
  };
  await Promise.all(Array.from({ length: 200 }, (_, i) => work(`user-${i % 5}`)));
  assert.equal(queue.taken(), 0);
  assert.equal(queue.waiting(), 0);
});

test('enter() refuses when the queue of the user is full, and only his', () => {
  const queue = createFairQueue({ seats: 1, queueLength: 2, waitMs: long });
  taken(queue, 'x');
  void waiting(queue, 'a');
  void waiting(queue, 'a');
  assert.throws(
    () => queue.enter('a', here),
    (error) => error instanceof NoSeat && error.reason === 'queue-full',
  );
  void waiting(queue, 'b');
});

test('who waits too long is refused', async (t) => {
  // The queue's own timer keeps no process alive.
  const alive = setInterval(() => {}, long);
  t.after(() => clearInterval(alive));
  const queue = createFairQueue({ seats: 1, queueLength: 2, waitMs: 1 });
  taken(queue, 'x');
  await assert.rejects(waiting(queue, 'a'), { reason: 'time-out' });
  assert.equal(queue.waiting(), 0);
});

test('who leaves the queue takes nobody else along', async () => {
  const counts: number[] = [];
  const onQueued = (count: number): void => void counts.push(count);
  const queue = createFairQueue({ seats: 1, queueLength: 2, waitMs: long, onQueued });
  const holder = taken(queue, 'x');
  const disconnect = new AbortController();
  const gone = queue.enter('a', () => disconnect.signal);
  const next = waiting(queue, 'a');
  disconnect.abort();
  await assert.rejects(Promise.resolve(gone), { reason: 'cancelled' });
  queue.leave(holder);
  assert.equal((await next).user, 'a');
  assert.deepEqual(counts, [1, 1, -1, -1]);
  await assert.rejects(
    Promise.resolve(queue.enter('b', () => disconnect.signal)),
    { reason: 'cancelled' },
    'gone before he came',
  );
});

test('no seats means no limit', () => {
  const queue = createFairQueue({ seats: 0, queueLength: 0, waitMs: long });
  for (let i = 0; i < 1000; i += 1) taken(queue, 'a');
  assert.equal(queue.taken(), 1000);
});

test('users who are no longer there are forgotten', () => {
  const queue = createFairQueue({ seats: 10, queueLength: 1, waitMs: long });
  for (let i = 0; i < 5000; i += 1) queue.leave(taken(queue, `user-${i}`));
  assert.equal(queue.taken(), 0);
});
