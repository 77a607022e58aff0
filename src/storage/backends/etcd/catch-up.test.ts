import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCatchUp } from './catch-up.ts';
import { createRevisionProgress } from './revision-progress.ts';

/** An etcd whose answers the test gives. */
function createScene() {
  const heard = createRevisionProgress(10, 1);
  const reads: ((revision: number) => void)[] = [];
  let nudges = 0;
  let onNudge = (): void => {};
  const catchUp = createCatchUp({
    heard,
    currentRevision: () => new Promise((resolve) => reads.push(resolve)),
    async nudge() {
      nudges += 1;
      onNudge();
    },
  });
  return {
    ...{ heard, reads, catchUp },
    nudges: () => nudges,
    onNudge(listener: () => void) {
      onNudge = listener;
    },
  };
}

/** Lets everything that is due happen. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('all that wait share a read, but never one that was under way when they came', async () => {
  const { reads, catchUp } = createScene();
  const first = [catchUp.now(), catchUp.now(), catchUp.now()];
  await turn();
  assert.equal(reads.length, 1);
  const later = [catchUp.now(), catchUp.now()];
  await turn();
  assert.equal(reads.length, 1, 'one read at a time');
  reads[0]?.(10);
  await Promise.all(first);
  await turn();
  assert.equal(reads.length, 2);
  reads[1]?.(10);
  await Promise.all(later);
});

test('a read waits until its revision was heard', async () => {
  const { heard, reads, catchUp } = createScene();
  let isThere = false;
  const waiting = catchUp.now().then(() => {
    isThere = true;
  });
  await turn();
  reads[0]?.(12);
  heard.hear(11, []);
  await turn();
  assert.equal(isThere, false);
  heard.hear(12, []);
  await waiting;
});

test('a failed read fails those that share it, and the next one is asked anew', async () => {
  let calls = 0;
  const catchUp = createCatchUp({
    heard: createRevisionProgress(10, 1),
    async currentRevision() {
      calls += 1;
      if (calls === 1) throw new Error('no leader');
      return 10;
    },
    nudge: async () => {},
  });
  await Promise.all([
    assert.rejects(catchUp.now(), /no leader/),
    assert.rejects(catchUp.now(), /no leader/),
  ]);
  await catchUp.now();
  assert.equal(calls, 2);
});

test('what never comes as an event is asked for, until it is heard', async () => {
  const scene = createScene();
  let asked = 0;
  scene.onNudge(() => {
    asked += 1;
    if (asked === 3) scene.heard.hear(15, []);
  });
  await scene.catchUp.to(15);
  assert.equal(scene.nudges(), 3);
});

test('what is ours comes by itself', async () => {
  const { heard, catchUp, nudges } = createScene();
  const waiting = catchUp.toOurs(11);
  // Longer than it takes to ask for what may be somebody else's.
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(nudges(), 0);
  heard.hear(11, []);
  await waiting;
});

test('who waits is told when the store ends, and when it took too long', async () => {
  const { heard, catchUp } = createScene();
  const ended = assert.rejects(catchUp.toOurs(11), /ended/);
  heard.end(new Error('it ended'));
  await ended;
  const late = createRevisionProgress(10, 1);
  const given = assert.rejects(late.reached(11), /too long/);
  late.giveUp(performance.now() + 1, new Error('too long'));
  await given;
});
