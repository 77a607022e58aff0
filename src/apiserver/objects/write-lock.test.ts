import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMemoryStore } from '../../storage/backends/memory/store.ts';
import { withWriteLock } from './write-lock.ts';

const store = openMemoryStore({ now: () => 0 });
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('takeTurn() runs writers of one key one after the other, in order', async () => {
  const seen: string[] = [];
  const write = (name: string) => async (): Promise<string> => {
    seen.push(`${name} begins`);
    await soon();
    seen.push(`${name} ends`);
    return name;
  };
  const done = await Promise.all(
    ['a', 'b', 'c'].map((name) => withWriteLock(store, 'k', write(name))),
  );
  assert.deepEqual(done, ['a', 'b', 'c']);
  assert.deepEqual(
    seen,
    ['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]),
  );
});

test('takeTurn() goes on after a writer that failed', async () => {
  const failed = withWriteLock(store, 'k', () => Promise.reject(new Error('failed')));
  const next = withWriteLock(store, 'k', async () => 'next');
  await assert.rejects(failed, /failed/);
  assert.equal(await next, 'next');
});

test('takeTurn() lets writers of other keys and stores pass', async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = withWriteLock(store, 'k', () => held);
  assert.equal(await withWriteLock(store, 'other', async () => 1), 1);
  const otherStore = openMemoryStore({ now: () => 0 });
  assert.equal(await withWriteLock(otherStore, 'k', async () => 2), 2);
  release();
  await first;
});
