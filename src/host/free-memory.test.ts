import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { getHeapSpaceStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { freeMemory, preferSmallHeap } from './free-memory.ts';

test('preferSmallHeap() limits new space also after a worker thread has started, which resets the flag', async (t) => {
  preferSmallHeap();
  const worker = new Worker('setInterval(() => {}, 1e6)', { eval: true });
  t.after(() => worker.terminate());
  await once(worker, 'online');
  const before = newSpaceBytes();
  fillNewSpace();
  assert.ok(newSpaceBytes() <= before);
});

const isGlibc = 'glibcVersionRuntime' in (process.report.getReport() as { header: object }).header;

test('freeMemory() returns what was allocated outside of the heap and freed', {
  skip: !isGlibc,
}, () => {
  const between = fillMalloc();
  const before = process.memoryUsage.rss();
  freeMemory();
  assert.ok(before - process.memoryUsage.rss() > allocatedBytes / 2);
  assert.ok(between.length > 0);
});

const allocatedBytes = 64 * 1024 * 1024;

/** Returns buffers that remain in use, so that the memory between them does not go to the machine by itself. */
function fillMalloc(): readonly Buffer[] {
  const bytes = 16 * 1024;
  const buffers = Array.from({ length: allocatedBytes / bytes }, () =>
    Buffer.allocUnsafeSlow(bytes).fill(1),
  );
  return buffers.filter((_, at) => at % 64 === 63);
}

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
