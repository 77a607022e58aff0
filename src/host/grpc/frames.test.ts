import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFrameReader, FrameTooLarge, toFrame } from './frames.ts';

const messages = ['', 'a', 'a longer message'].map((text) => Buffer.from(text));
const bytes = Buffer.concat(messages.map(toFrame));

test('createFrameReader() assembles messages however they are cut', () => {
  for (let size = 1; size <= bytes.length; size += 1) {
    const read = createFrameReader(100);
    const found: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size)
      found.push(...read(bytes.subarray(at, at + size)));
    assert.deepEqual(found, messages, `chunks of ${size} bytes`);
  }
});

test('createFrameReader() refuses a message above its limit before it arrives', () => {
  const frame = toFrame(Buffer.alloc(101));
  assert.throws(() => createFrameReader(100)(frame.subarray(0, 5)), FrameTooLarge);
  assert.equal(createFrameReader(101)(frame).length, 1);
});
