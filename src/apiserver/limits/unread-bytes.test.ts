import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createUnreadBytes, type Reader, type UnreadBytes } from './unread-bytes.ts';

const kib = 1024;

type TestReader = Reader & { waits: number; isCut: boolean };

function reader(connection: object): TestReader {
  const one: TestReader = {
    connection,
    waits: 0,
    isCut: false,
    unread: () => one.waits,
    cut: () => {
      one.isCut = true;
    },
  };
  return one;
}

function hand(unread: UnreadBytes, to: TestReader, bytes: number): void {
  if (to.isCut) return;
  to.waits += bytes;
  unread.wrote(to, bytes);
}

function start(limits: Partial<Parameters<typeof createUnreadBytes>[0]> = {}) {
  const cuts: string[] = [];
  const unread = createUnreadBytes({
    perConnectionBytes: 1000 * kib,
    totalBytes: 3000 * kib,
    stalledMs: 60_000,
    onCut: (reason) => cuts.push(reason),
    ...limits,
  });
  return { unread, cuts };
}

test('wrote() cuts the largest response of a connection with too many unread bytes', (t) => {
  const { unread, cuts } = start();
  t.after(unread.stop);
  const connection = {};
  const small = reader(connection);
  const large = reader(connection);
  const other = reader({});
  hand(unread, small, 200 * kib);
  hand(unread, other, 900 * kib);
  for (let i = 0; i < 10; i += 1) hand(unread, large, 100 * kib);
  assert.deepEqual([small.isCut, large.isCut, other.isCut], [false, true, false]);
  assert.deepEqual(cuts, ['connection']);
  assert.equal(unread.total(), 1100 * kib);
});

test('wrote() lets a single response exceed the limits, but not one of two', (t) => {
  const { unread, cuts } = start();
  t.after(unread.stop);
  const connection = {};
  const alone = { ...reader(connection), waits: 5000 * kib, isComplete: true };
  unread.wrote({ ...alone, unread: () => alone.waits }, alone.waits);
  assert.deepEqual(cuts, []);
  const second = reader({});
  hand(unread, second, 100 * kib);
  assert.deepEqual(cuts, ['total']);
  assert.equal(second.isCut, false);
  assert.equal(unread.total(), 100 * kib);
});

test('wrote() cuts the largest responses of all when the total is too much', (t) => {
  const { unread, cuts } = start();
  t.after(unread.stop);
  const readers = Array.from({ length: 10 }, () => reader({}));
  for (const [at, one] of readers.entries()) hand(unread, one, (200 + 50 * at) * kib);
  assert.ok(unread.total() <= 3000 * kib, `${unread.total()} bytes are held`);
  assert.deepEqual(
    readers.map(({ isCut }) => isCut),
    [false, false, false, false, false, false, false, false, true, true],
  );
  assert.deepEqual(new Set(cuts), new Set(['total']));
});

test('wrote() does not count what was read meanwhile', (t) => {
  const { unread, cuts } = start();
  t.after(unread.stop);
  const one = reader({});
  for (let i = 0; i < 100; i += 1) {
    hand(unread, one, 500 * kib);
    one.waits = 70 * kib;
  }
  assert.deepEqual(cuts, []);
  one.waits = 0;
  hand(unread, one, 10 * kib);
  hand(unread, one, 1000 * kib);
  assert.ok(one.isCut);
  assert.equal(unread.total(), 0);
  assert.equal(unread.readers(), 0);
});

test('createUnreadBytes() cuts a stalled reader, but not a slow one', (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  const { unread, cuts } = start();
  const stuck = reader({});
  const slow = reader({});
  const watcher = reader({});
  hand(unread, stuck, 100 * kib);
  hand(unread, slow, 500 * kib);
  hand(unread, watcher, 100 * kib);
  for (let second = 0; second < 60; second += 1) {
    slow.waits -= kib;
    // Written to, but not read: no progress.
    hand(unread, watcher, kib);
    mock.timers.tick(1000);
  }
  assert.deepEqual([stuck.isCut, slow.isCut, watcher.isCut], [true, false, true]);
  assert.deepEqual(cuts, ['stalled', 'stalled']);
  unread.closed(slow);
  assert.equal(unread.total(), 0);
});

test('wrote() does not track small responses', () => {
  const { unread } = start();
  for (let i = 0; i < 1000; i += 1) hand(unread, reader({}), 60 * kib);
  assert.equal(unread.readers(), 0);
});
