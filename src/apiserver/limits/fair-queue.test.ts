import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFairQueue, type FairQueue, type Flow, NoSeat } from './fair-queue.ts';

const connected = (): AbortSignal => new AbortController().signal;
const long = 600_000;

function acquired(queue: FairQueue, user: string): Flow {
  const flow = queue.acquire(user, connected);
  assert.ok(!(flow instanceof Promise), `${user} waits`);
  return flow;
}

/** Acquires a seat that is not free, and records when it is. */
function waiting(queue: FairQueue, user: string, seated: string[] = []): Promise<Flow> {
  const pending = queue.acquire(user, connected);
  assert.ok(pending instanceof Promise, `${user} does not wait`);
  pending.then(
    () => seated.push(user),
    () => {},
  );
  return pending;
}

test('acquire() gives a seat at once while there are some, to one user up to half of them', () => {
  const queue = createFairQueue({ seats: 4, queueLength: 1, waitMs: long });
  acquired(queue, 'a');
  acquired(queue, 'a');
  void waiting(queue, 'a');
  acquired(queue, 'b');
  acquired(queue, 'b');
  assert.equal(queue.inUse(), 4);
  assert.equal(queue.waiting(), 1);
});

test('release() serves the users round-robin, however long their queues are', async () => {
  const queue = createFairQueue({ seats: 2, queueLength: 10, waitMs: long });
  const atWork = [acquired(queue, 'x'), acquired(queue, 'y')];
  const seated: string[] = [];
  for (const user of ['a', 'a', 'a', 'b', 'c', 'c']) {
    void waiting(queue, user, seated).then((flow) => atWork.push(flow));
  }
  for (let left = 0; left < 8; left += 1) {
    const done = atWork.shift();
    assert.ok(done !== undefined);
    queue.release(done);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(seated, ['a', 'b', 'c', 'a', 'c', 'a']);
});

test('createFairQueue() serves all requests in the end, and gets all seats back', async () => {
  const queue = createFairQueue({ seats: 3, queueLength: 100, waitMs: long });
  const work = async (user: string): Promise<void> => {
    const flow = await queue.acquire(user, connected);
    assert.ok(queue.inUse() <= 3);
    assert.ok(flow.seatsInUse <= 2, 'half of the seats');
    await Promise.resolve();
    queue.release(flow);
  };
  await Promise.all(Array.from({ length: 200 }, (_, i) => work(`user-${i % 5}`)));
  assert.equal(queue.inUse(), 0);
  assert.equal(queue.waiting(), 0);
});

test('acquire() refuses when the queue of the user is full, but not other users', () => {
  const queue = createFairQueue({ seats: 1, queueLength: 2, waitMs: long });
  acquired(queue, 'x');
  void waiting(queue, 'a');
  void waiting(queue, 'a');
  assert.throws(
    () => queue.acquire('a', connected),
    (error) => error instanceof NoSeat && error.reason === 'queue-full',
  );
  void waiting(queue, 'b');
});

test('acquire() rejects after the wait time', async (t) => {
  // The timer of the queue does not keep the process alive.
  const alive = setInterval(() => {}, long);
  t.after(() => clearInterval(alive));
  const queue = createFairQueue({ seats: 1, queueLength: 2, waitMs: 1 });
  acquired(queue, 'x');
  await assert.rejects(waiting(queue, 'a'), { reason: 'time-out' });
  assert.equal(queue.waiting(), 0);
});

test('acquire() rejects a cancelled request, and no other', async () => {
  const counts: number[] = [];
  const onQueued = (count: number): void => void counts.push(count);
  const queue = createFairQueue({ seats: 1, queueLength: 2, waitMs: long, onQueued });
  const holder = acquired(queue, 'x');
  const disconnect = new AbortController();
  const cancelled = queue.acquire('a', () => disconnect.signal);
  const next = waiting(queue, 'a');
  disconnect.abort();
  await assert.rejects(Promise.resolve(cancelled), { reason: 'cancelled' });
  queue.release(holder);
  assert.equal((await next).user, 'a');
  assert.deepEqual(counts, [1, 1, -1, -1]);
  await assert.rejects(
    Promise.resolve(queue.acquire('b', () => disconnect.signal)),
    { reason: 'cancelled' },
    'cancelled before',
  );
});

test('createFairQueue() has no limit when the number of seats is 0', () => {
  const queue = createFairQueue({ seats: 0, queueLength: 0, waitMs: long });
  for (let i = 0; i < 1000; i += 1) acquired(queue, 'a');
  assert.equal(queue.inUse(), 1000);
});

test('release() removes users without requests', () => {
  const queue = createFairQueue({ seats: 10, queueLength: 1, waitMs: long });
  for (let i = 0; i < 5000; i += 1) queue.release(acquired(queue, `user-${i}`));
  assert.equal(queue.inUse(), 0);
});
