import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Store } from '../../store.ts';
import { recover } from './recover.ts';
import { openEmbeddedStore } from './store.ts';

const root = mkdtempSync(join(tmpdir(), 'fairlead-rewrite-'));
after(() => rmSync(root, { recursive: true }));
const now = (): number => 1_700_000_000_000;

async function overwrite(store: Store, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const puts = Array.from({ length: 200 }, (_, n) => ({
      compare: [],
      write: [{ put: `/k/${n}`, value: Buffer.alloc(4_000, round) }],
    }));
    await Promise.all(puts.map((transaction) => store.transact(transaction)));
  }
}

test('a file reuses the pages that compaction frees', async () => {
  const directory = join(root, 'reuse');
  const store = await openEmbeddedStore({ directory, now });
  const sizes: number[] = [];
  for (let cycle = 0; cycle < 12; cycle++) {
    await overwrite(store, 5);
    await store.compact(await store.currentRevision());
    sizes.push(statSync(join(directory, 'store.mdb')).size);
  }
  await store.close();
  const [, , third = 0] = sizes;
  assert.ok((sizes.at(-1) ?? 0) <= third * 1.5, `sizes ${sizes.join(', ')}`);
  recover(join(directory, 'store.mdb'));
});

test('a file that is mostly free is rewritten when it is opened', async () => {
  const directory = join(root, 'shrink');
  const file = join(directory, 'store.mdb');
  const store = await openEmbeddedStore({ directory, now });
  await overwrite(store, 40);
  const revision = await store.currentRevision();
  await store.compact(revision);
  const before = await store.list('/');
  await store.close();
  const large = statSync(file).size;
  assert.ok(large > 20_000_000);
  // What an attempt that was killed half way leaves behind.
  writeFileSync(`${file}.new`, 'half');

  const again = await openEmbeddedStore({ directory, now });
  assert.ok(statSync(file).size < large / 10);
  assert.throws(() => statSync(`${file}.new`), { code: 'ENOENT' });
  assert.equal(await again.currentRevision(), revision);
  assert.equal(again.compactedRevision(), revision);
  assert.deepEqual(await again.list('/'), before);
  await again.transact({ compare: [], write: [{ put: '/k/0', value: Buffer.from('x') }] });
  await again.close();
});
