import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EncodedBody } from './body.ts';
import { createSharedLists } from './shared-lists.ts';

const large = (fill: string) => async (): Promise<EncodedBody> => ({
  contentType: 'application/yaml',
  body: Buffer.alloc(100_000, fill),
  convert: 'yaml',
});

test('the same list is encoded once', async () => {
  const shared = createSharedLists();
  const resource = {};
  const first = await shared({ resource, key: 'all 7' }, large('a'));
  const second = await shared({ resource, key: 'all 7' }, large('b'));
  assert.equal(second.body, first.body);
  assert.deepEqual(second, first);
});

test('who asks while the list is being made waits for it', async () => {
  const shared = createSharedLists();
  const resource = {};
  const first = shared({ resource, key: 'all 7' }, large('a'));
  const second = shared({ resource, key: 'all 7' }, large('b'));
  assert.equal((await second).body, (await first).body);
});

test('what could not be made is tried again', async () => {
  const shared = createSharedLists();
  const resource = {};
  const fail = (): Promise<EncodedBody> => Promise.reject(new Error('no'));
  await assert.rejects(shared({ resource, key: 'all 7' }, fail), /no/);
  const { body } = await shared({ resource, key: 'all 7' }, large('b'));
  assert.equal(body[0], 'b'.charCodeAt(0));
});

test('another revision, another part and another resource have bytes of their own', async () => {
  const shared = createSharedLists();
  const resource = {};
  const firstByte = async (of: object, key: string, fill: string) =>
    (await shared({ resource: of, key }, large(fill))).body.toString('latin1', 0, 1);
  assert.equal(await firstByte(resource, 'all 7', 'a'), 'a');
  assert.equal(await firstByte(resource, 'all 8', 'b'), 'b');
  assert.equal(await firstByte(resource, 'all 7', 'c'), 'c');
  assert.equal(await firstByte({}, 'all 7', 'd'), 'd');
});
