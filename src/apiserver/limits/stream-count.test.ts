import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createStreamCount } from './stream-count.ts';

test('each user has room for so many watches, and again when one has ended', () => {
  const watches = createStreamCount(2);
  const [first] = [watches.opened('a'), watches.opened('a')];
  assert.equal(watches.hasRoom('a'), false);
  assert.equal(watches.hasRoom('b'), true);
  first();
  first();
  assert.equal(watches.hasRoom('a'), true);
  watches.opened('a');
  assert.equal(watches.hasRoom('a'), false, 'an end that is told twice counts once');
});

test('no number means no limit', () => {
  const watches = createStreamCount(0);
  for (let i = 0; i < 1000; i += 1) watches.opened('a');
  assert.equal(watches.hasRoom('a'), true);
});
