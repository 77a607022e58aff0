import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { getHeapSpaceStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { preferSmallHeap } from './free-memory.ts';

test('preferSmallHeap() limits new space also after a worker thread has started, which resets the flag', async (t) => {
  preferSmallHeap();
  const worker = new Worker('setInterval(() => {}, 1e6)', { eval: true });
  t.after(() => worker.terminate());
  await once(worker, 'online');
  const before = newSpaceBytes();
  fillNewSpace();
  assert.ok(newSpaceBytes() <= before);
});

function newSpaceBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return space?.space_size ?? Number.NaN;
}

/** With enough survivors that it would grow. */
function fillNewSpace(): void {
  const survivors = Array.from({ length: 100_000 }, () => ({}));
  for (let at = 0; at < 3_000_000; at += 1)
    survivors[at % survivors.length] = { at, text: `x${at}` };
}
