import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../host/fake-clock.ts';
import type { KubeObject } from '../meta/object.ts';
import { createExpectations } from './expectations.ts';

const key = 'a/web';

function object(uid: string, resourceVersion: string): KubeObject {
  const metadata = { name: uid, namespace: 'a', uid, resourceVersion };
  return { apiVersion: 'v1', kind: 'Thing', metadata };
}

function start() {
  const clock = createFakeClock();
  const reported: string[] = [];
  const writes = createExpectations<KubeObject>({
    clock,
    keyOf: () => key,
    changedExternally: (changed) => reported.push(changed),
  });
  const write = (...objects: KubeObject[]): Promise<void> =>
    writes.during(key, async ({ wrote }) => {
      for (const one of objects) wrote(one);
    });
  return { clock, reported, writes, write };
}

test('over() returns an own update until the informer has a newer version', async () => {
  const { writes, write } = start();
  await write(object('x', '10'));
  assert.deepEqual(writes.over(key, [object('x', '9')]), [object('x', '10')]);
  assert.deepEqual(writes.over(key, [object('x', '11')]), [object('x', '11')]);
});

test('over() returns a created object for a minute, even when the informer never observes it', async () => {
  const { clock, writes, write } = start();
  await write(object('x', '10'));
  assert.deepEqual(writes.over(key, []), [object('x', '10')]);
  await clock.advance(60_000);
  assert.deepEqual(writes.over(key, []), []);
});

test('over() hides what was deleted', async () => {
  const { writes } = start();
  await writes.during(key, async ({ deleted }) => deleted(object('x', '9')));
  assert.deepEqual(writes.over(key, [object('x', '9'), object('y', '3')]), [object('y', '3')]);
});

test('over() omits a created object that another client deleted', async () => {
  const { reported, writes, write } = start();
  await write(object('x', '10'));
  writes.handler.add?.(object('x', '10'));
  writes.handler.delete?.(object('x', '10'));
  assert.deepEqual(writes.over(key, []), []);
  assert.deepEqual(reported, [key]);
});

test('handler ignores own writes, whether observed before or after their response', async () => {
  const { reported, writes, write } = start();
  await write(object('x', '10'));
  writes.handler.update?.(object('x', '9'), object('x', '10'));
  await writes.during(key, async ({ wrote, deleted }) => {
    writes.handler.add?.(object('y', '11'));
    wrote(object('y', '11'));
    writes.handler.delete?.(object('z', '5'));
    deleted(object('z', '5'));
  });
  await writes.during(key, async ({ deleted }) => deleted(object('v', '6')));
  writes.handler.delete?.(object('v', '6'));
  assert.deepEqual(reported, []);
});

test('handler reports external changes, also those made during own work', async () => {
  const { reported, writes, write } = start();
  writes.handler.update?.(object('x', '9'), object('x', '10'));
  assert.deepEqual(reported, [key]);
  await writes.during(key, async ({ wrote }) => {
    writes.handler.update?.(object('x', '10'), object('x', '12'));
    wrote(object('x', '11'));
  });
  assert.deepEqual(reported, [key, key]);
  await write(object('x', '13'));
  writes.handler.update?.(object('x', '13'), object('x', '14'));
  assert.deepEqual(reported, [key, key, key]);
});

test('during() attributes what was observed even when the work fails', async () => {
  const { reported, writes } = start();
  const failing = writes.during(key, async () => {
    writes.handler.add?.(object('x', '10'));
    throw new Error('no');
  });
  await assert.rejects(failing, /no/);
  assert.deepEqual(reported, [key]);
});
