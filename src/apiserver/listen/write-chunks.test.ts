import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { createChunkWriter } from './write-chunks.ts';

const mebibyte = 1024 * 1024;
const chunk = mebibyte / 16;

test('createChunkWriter() writes all bytes in order, whatever their number', async () => {
  for (const length of [0, 1, chunk, chunk + 1, 3 * mebibyte + 7]) {
    const outlet = new PassThrough();
    const body = randomBytes(length);
    const pending = createChunkWriter()(outlet, body);
    assert.deepEqual(await buffer(outlet), body);
    assert.equal(pending(), 0);
  }
});

test('createChunkWriter() writes one chunk to a client that does not read', async () => {
  const outlet = new PassThrough();
  const pending = createChunkWriter()(outlet, Buffer.alloc(mebibyte));
  for (let n = 0; n < 10; n += 1) await nextIteration();
  assert.equal(pending(), mebibyte - chunk);
  outlet.resume();
  await once(outlet, 'end');
  assert.equal(pending(), 0);
});

test('createChunkWriter() writes nothing more to a client that has disconnected', async () => {
  const outlet = new PassThrough();
  const pending = createChunkWriter()(outlet, Buffer.alloc(mebibyte));
  await nextIteration();
  outlet.destroy();
  for (let n = 0; n < 10; n += 1) await nextIteration();
  assert.equal(pending(), mebibyte - chunk);
});

test('createChunkWriter() writes one chunk of all responses in each iteration of the event loop', async () => {
  const write = createChunkWriter();
  const writers = Array.from({ length: 5 }, () => {
    const outlet = new PassThrough({ highWaterMark: 2 * mebibyte });
    return write(outlet, Buffer.alloc(mebibyte));
  });
  const pending = (): number => writers.reduce((sum, one) => sum + one(), 0);
  const each: number[] = [];
  for (let before = pending(); before > 0; before = pending()) {
    await nextIteration();
    each.push(before - pending());
  }
  assert.deepEqual([...new Set(each)], [chunk]);
  assert.equal(each.length, 5 * (mebibyte / chunk));
});
