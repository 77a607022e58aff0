import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPullQueue } from './run-pull-queue.ts';

const never = new AbortController().signal;

describe('createPullQueue()', () => {
  it('lets one after the other in, in order', async () => {
    const queue = createPullQueue(1);
    const order: string[] = [];
    const leave = await queue.enter(never);
    const second = queue.enter(never).then((next) => {
      order.push('second');
      next();
    });
    const third = queue.enter(never).then((next) => {
      order.push('third');
      next();
    });
    assert.deepEqual(order, []);
    leave();
    leave();
    await Promise.all([second, third]);
    assert.deepEqual(order, ['second', 'third']);
  });

  it('lets any number in without a limit', async () => {
    const queue = createPullQueue();
    await Promise.all(Array.from({ length: 50 }, () => queue.enter(never)));
  });

  it('forgets who gives up', async () => {
    const queue = createPullQueue(1);
    const leave = await queue.enter(never);
    const end = new AbortController();
    const waiting = queue.enter(end.signal);
    end.abort(new Error('enough'));
    await assert.rejects(waiting, /enough/);
    leave();
    await queue.enter(never);
    await assert.rejects(queue.enter(end.signal), /enough/);
  });
});
