import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listPages } from './list-pages.ts';
import type { Entry, Listing, ListOptions } from './store.ts';

const entry = (key: string): Entry => ({
  key,
  value: Buffer.from(key),
  revision: 1,
  createRevision: 1,
});

/** A store of three keys that gets a revision with every call. */
function growing(keys = ['a', 'b', 'c']) {
  const calls: ListOptions[] = [];
  return {
    calls,
    async list(_prefix: string, options: ListOptions = {}): Promise<Listing> {
      calls.push(options);
      const { after = '', limit = Infinity, revision = 40 + calls.length } = options;
      const found = keys.filter((key) => key > after);
      const entries = found.slice(0, limit).map(entry);
      return { entries, revision, more: found.length > entries.length };
    },
  };
}

async function keysOf(pages: AsyncGenerator<Listing>): Promise<string[][]> {
  const found: string[][] = [];
  for await (const { entries } of pages) found.push(entries.map(({ key }) => key));
  return found;
}

test('listPages() reads all pages as of the revision of the first', async () => {
  const store = growing();
  assert.deepEqual(await keysOf(listPages(store, '', { limit: 2 })), [['a', 'b'], ['c']]);
  assert.deepEqual(store.calls, [{ limit: 2 }, { limit: 2, revision: 41, after: 'b' }]);
});

test('listPages() reads as of the given revision', async () => {
  const store = growing();
  assert.deepEqual(await keysOf(listPages(store, '', { limit: 2, revision: 7 })), [
    ['a', 'b'],
    ['c'],
  ]);
  assert.deepEqual(
    store.calls.map(({ revision }) => revision),
    [7, 7],
  );
});

test('listPages() yields one page where there is nothing', async () => {
  assert.deepEqual(await keysOf(listPages(growing([]), '', { limit: 2 })), [[]]);
});
