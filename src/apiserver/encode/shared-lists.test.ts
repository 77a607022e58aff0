import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSharedLists } from './shared-lists.ts';

const large = (fill: string) => () => ({
  contentType: 'application/json',
  body: Buffer.alloc(100_000, fill),
});

test('the same list is encoded once', () => {
  const shared = createSharedLists();
  const resource = {};
  const first = shared({ resource, key: 'all 7' }, large('a'));
  assert.equal(shared({ resource, key: 'all 7' }, large('b')).body, first.body);
});

test('another revision, another part and another resource have bytes of their own', () => {
  const shared = createSharedLists();
  const resource = {};
  shared({ resource, key: 'all 7' }, large('a'));
  assert.equal(shared({ resource, key: 'all 8' }, large('b')).body[0], 'b'.charCodeAt(0));
  assert.equal(shared({ resource, key: 'all 7' }, large('c')).body[0], 'c'.charCodeAt(0));
  assert.equal(shared({ resource: {}, key: 'all 7' }, large('d')).body[0], 'd'.charCodeAt(0));
});
