import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSelectorIndex } from './selector-index.ts';

const named = (name: string, namespace = 'a') => ({ namespace, name });

test('matching() finds the Services that select a pod', () => {
  const index = createSelectorIndex();
  index.set(named('web'), { app: 'web' });
  index.set(named('web-canary'), { track: 'canary', app: 'web' });
  index.set(named('db'), { app: 'db' });
  index.set(named('web', 'b'), { app: 'web' });
  assert.deepEqual(index.matching('a', { app: 'web' }), ['web']);
  assert.deepEqual(index.matching('a', { app: 'web', track: 'canary', x: 'y' }), [
    'web',
    'web-canary',
  ]);
  assert.deepEqual(index.matching('a', { track: 'canary' }), []);
  assert.deepEqual(index.matching('a', undefined), []);
  assert.deepEqual(index.matching('c', { app: 'web' }), []);
});

test('set() replaces the selector, and an empty one selects nothing', () => {
  const index = createSelectorIndex();
  index.set(named('web'), { app: 'web' });
  index.set(named('web'), { app: 'other' });
  assert.deepEqual(index.matching('a', { app: 'web' }), []);
  assert.deepEqual(index.matching('a', { app: 'other' }), ['web']);
  index.set(named('web'), {});
  assert.deepEqual(index.matching('a', { app: 'other' }), []);
});

test('remove() removes one of two Services with the same selector', () => {
  const index = createSelectorIndex();
  index.set(named('one'), { app: 'web' });
  index.set(named('two'), { app: 'web' });
  index.remove(named('one'));
  index.remove(named('none'));
  assert.deepEqual(index.matching('a', { app: 'web' }), ['two']);
});

test('matching() separates values, and ignores inherited properties', () => {
  const index = createSelectorIndex();
  index.set(named('s'), { a: 'xy', b: 'z' });
  assert.deepEqual(index.matching('a', { a: 'x', b: 'yz' }), []);
  index.set(named('t'), { constructor: 'x' });
  assert.deepEqual(index.matching('a', {}), []);
});
