import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStreamCount, weightOfWatch } from './stream-count.ts';

test('createStreamCount() limits each user, and has room again when a stream ends', () => {
  const watches = createStreamCount(2);
  const [first] = [watches.add('a'), watches.add('a')];
  assert.equal(watches.hasRoom('a'), false);
  assert.equal(watches.hasRoom('b'), true);
  first();
  first();
  assert.equal(watches.hasRoom('a'), true);
  watches.add('a');
  assert.equal(watches.hasRoom('a'), false, 'ending twice counts once');
});

test('createStreamCount() has no limit when it is 0', () => {
  const watches = createStreamCount(0);
  for (let i = 0; i < 1000; i += 1) watches.add('a');
  assert.equal(watches.hasRoom('a'), true);
});

test('weightOfWatch() grows with the length of the selectors', () => {
  const watches = createStreamCount(60);
  const weight = weightOfWatch({
    labelSelector: 'a,'.repeat(20_000),
    fieldSelector: 'b'.repeat(1_000),
  });
  assert.equal(weight, 41);
  const close = watches.add('a', weight);
  assert.equal(watches.hasRoom('a', weight), false);
  assert.equal(watches.hasRoom('a'), true);
  close();
  assert.equal(watches.hasRoom('a', weight), true);
  assert.equal(weightOfWatch({ labelSelector: 'app=web' }), 1);
});
