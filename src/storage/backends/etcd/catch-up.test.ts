import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCatchUp } from './catch-up.ts';
import { createRevisionProgress } from './revision-progress.ts';

/** An etcd whose responses the test sends. */
function createFixture() {
  const progress = createRevisionProgress(10, 1);
  const reads: ((revision: number) => void)[] = [];
  let requests = 0;
  let onRequest = (): void => {};
  const catchUp = createCatchUp({
    progress,
    currentRevision: () => new Promise((resolve) => reads.push(resolve)),
    async requestProgress() {
      requests += 1;
      onRequest();
    },
  });
  return {
    ...{ progress, reads, catchUp },
    requests: () => requests,
    onRequest(listener: () => void) {
      onRequest = listener;
    },
  };
}

/** Lets everything that is due run. */
const nextImmediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('toPresent() shares a read among waiting calls, but never one that was under way before them', async () => {
  const { reads, catchUp } = createFixture();
  const first = [catchUp.toPresent(), catchUp.toPresent(), catchUp.toPresent()];
  await nextImmediate();
  assert.equal(reads.length, 1);
  const later = [catchUp.toPresent(), catchUp.toPresent()];
  await nextImmediate();
  assert.equal(reads.length, 1, 'one read at a time');
  reads[0]?.(10);
  await Promise.all(first);
  await nextImmediate();
  assert.equal(reads.length, 2);
  reads[1]?.(10);
  await Promise.all(later);
});

test('toPresent() waits until its revision is delivered', async () => {
  const { progress, reads, catchUp } = createFixture();
  let isThere = false;
  const waiting = catchUp.toPresent().then(() => {
    isThere = true;
  });
  await nextImmediate();
  reads[0]?.(12);
  progress.advance(11, []);
  await nextImmediate();
  assert.equal(isThere, false);
  progress.advance(12, []);
  await waiting;
});

test('toPresent() fails all calls that share a failed read, and reads anew for the next', async () => {
  let calls = 0;
  const catchUp = createCatchUp({
    progress: createRevisionProgress(10, 1),
    async currentRevision() {
      calls += 1;
      if (calls === 1) throw new Error('no leader');
      return 10;
    },
    requestProgress: async () => {},
  });
  await Promise.all([
    assert.rejects(catchUp.toPresent(), /no leader/),
    assert.rejects(catchUp.toPresent(), /no leader/),
  ]);
  await catchUp.toPresent();
  assert.equal(calls, 2);
});

test('toRevision() requests progress until the revision is delivered', async () => {
  const fixture = createFixture();
  let sent = 0;
  fixture.onRequest(() => {
    sent += 1;
    if (sent === 3) fixture.progress.advance(15, []);
  });
  await fixture.catchUp.toRevision(15);
  assert.equal(fixture.requests(), 3);
});

test('toOwnWrite() waits for the event and requests nothing', async () => {
  const { progress, catchUp, requests } = createFixture();
  const waiting = catchUp.toOwnWrite(11);
  // Longer than toRevision() waits before it requests progress.
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(requests(), 0);
  progress.advance(11, []);
  await waiting;
});

test('waitFor() rejects when the store is closed, and when it takes too long', async () => {
  const { progress, catchUp } = createFixture();
  const closed = assert.rejects(catchUp.toOwnWrite(11), /closed/);
  progress.close(new Error('it was closed'));
  await closed;
  const late = createRevisionProgress(10, 1);
  const expired = assert.rejects(late.waitFor(11), /too long/);
  late.rejectOlder(performance.now() + 1, new Error('too long'));
  await expired;
});
