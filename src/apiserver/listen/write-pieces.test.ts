import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createPieceWriter } from './write-pieces.ts';

const mebibyte = 1024 * 1024;
const piece = mebibyte / 16;

test('all bytes arrive, in order, whatever their number', async () => {
  for (const length of [0, 1, piece, piece + 1, 3 * mebibyte + 7]) {
    const outlet = new PassThrough();
    const body = randomBytes(length);
    const left = createPieceWriter()(outlet, body);
    assert.deepEqual(await buffer(outlet), body);
    assert.equal(left(), 0);
  }
});

test('a client that does not read is given one piece', async () => {
  const outlet = new PassThrough();
  const left = createPieceWriter()(outlet, Buffer.alloc(mebibyte));
  for (let turns = 0; turns < 10; turns += 1) await turn();
  assert.equal(left(), mebibyte - piece);
  outlet.resume();
  await once(outlet, 'end');
  assert.equal(left(), 0);
});

test('a client that is gone is given nothing more', async () => {
  const outlet = new PassThrough();
  const left = createPieceWriter()(outlet, Buffer.alloc(mebibyte));
  await turn();
  outlet.destroy();
  for (let turns = 0; turns < 10; turns += 1) await turn();
  assert.equal(left(), mebibyte - piece);
});

test('of many answers one piece is written in each turn', async () => {
  const write = createPieceWriter();
  const lefts = Array.from({ length: 5 }, () => {
    const outlet = new PassThrough({ highWaterMark: 2 * mebibyte });
    return write(outlet, Buffer.alloc(mebibyte));
  });
  const left = (): number => lefts.reduce((sum, one) => sum + one(), 0);
  const each: number[] = [];
  for (let before = left(); before > 0; before = left()) {
    await turn();
    each.push(before - left());
  }
  assert.deepEqual([...new Set(each)], [piece]);
  assert.equal(each.length, 5 * (mebibyte / piece));
});
