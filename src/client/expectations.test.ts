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
  const told: string[] = [];
  const writes = createExpectations<KubeObject>({
    clock,
    keyOf: () => key,
    changedByOthers: (changed) => told.push(changed),
  });
  const write = (...objects: KubeObject[]): Promise<void> =>
    writes.during(key, async ({ wrote }) => {
      for (const one of objects) wrote(one);
    });
  return { clock, told, writes, write };
}

test('over() shows an update before the informer does, and the informer’s copy once that is newer', async () => {
  const { writes, write } = start();
  await write(object('x', '10'));
  assert.deepEqual(writes.over(key, [object('x', '9')]), [object('x', '10')]);
  assert.deepEqual(writes.over(key, [object('x', '11')]), [object('x', '11')]);
});

test('over() shows what was created, until the informer was given a minute to show it', async () => {
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

test('over() forgets a created object that somebody deleted again', async () => {
  const { told, writes, write } = start();
  await write(object('x', '10'));
  writes.handler.add?.(object('x', '10'));
  writes.handler.delete?.(object('x', '10'));
  assert.deepEqual(writes.over(key, []), []);
  assert.deepEqual(told, [key]);
});

test('the handler is silent about own writes, before and after their answer', async () => {
  const { told, writes, write } = start();
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
  assert.deepEqual(told, []);
});

test('the handler tells of changes by others, also of those during own work', async () => {
  const { told, writes, write } = start();
  writes.handler.update?.(object('x', '9'), object('x', '10'));
  assert.deepEqual(told, [key]);
  await writes.during(key, async ({ wrote }) => {
    writes.handler.update?.(object('x', '10'), object('x', '12'));
    wrote(object('x', '11'));
  });
  assert.deepEqual(told, [key, key]);
  await write(object('x', '13'));
  writes.handler.update?.(object('x', '13'), object('x', '14'));
  assert.deepEqual(told, [key, key, key]);
});

test('during() judges what arrived even when the work fails', async () => {
  const { told, writes } = start();
  const failing = writes.during(key, async () => {
    writes.handler.add?.(object('x', '10'));
    throw new Error('no');
  });
  await assert.rejects(failing, /no/);
  assert.deepEqual(told, [key]);
});
