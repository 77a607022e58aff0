import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createFrameReader,
  dataFrame,
  goAwayFrame,
  pingFrame,
  resetFrame,
  SpdyError,
  type SpdyFrame,
  synReplyFrame,
  synStreamFrame,
  windowUpdateFrame,
} from './spdy-frames.ts';

const bytes = Buffer.concat([
  synStreamFrame(1, Buffer.from('headers')),
  dataFrame(1, Buffer.from('hello')),
  windowUpdateFrame(1, 5),
  pingFrame(7),
  dataFrame(1, Buffer.alloc(0), true),
  synReplyFrame(3, Buffer.from('more')),
  resetFrame(3, 5),
  goAwayFrame(3),
]);

const frames = [
  {
    kind: 'synStream',
    stream: 1,
    isFinal: false,
    isOneWay: false,
    headers: Buffer.from('headers'),
  },
  { kind: 'data', stream: 1, isFinal: false, bytes: Buffer.from('hello') },
  { kind: 'windowUpdate', stream: 1, delta: 5 },
  { kind: 'ping', id: 7 },
  { kind: 'data', stream: 1, isFinal: true, bytes: Buffer.alloc(0) },
  { kind: 'synReply', stream: 3, headers: Buffer.from('more') },
  { kind: 'reset', stream: 3, status: 5 },
  { kind: 'goAway' },
];

test('createFrameReader() reads encoded frames', () => {
  assert.deepEqual(createFrameReader()(bytes), frames);
});

test('createFrameReader() reads frames from chunks of any size', () => {
  for (let size = 1; size < 20; size += 1) {
    const read = createFrameReader();
    const found: SpdyFrame[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      found.push(...read(bytes.subarray(at, at + size)));
    }
    const joined: SpdyFrame[] = [];
    for (const frame of found) {
      const last = joined.at(-1);
      if (frame.kind === 'data' && last?.kind === 'data' && frame.bytes.length > 0) {
        joined.pop();
        joined.push({ ...frame, bytes: Buffer.concat([last.bytes, frame.bytes]) });
      } else joined.push(frame);
    }
    assert.deepEqual(joined, frames, `in pieces of ${size}`);
  }
});

test('createFrameReader() marks only the last piece of data as final', () => {
  const frame = dataFrame(1, Buffer.from('abcd'), true);
  const read = createFrameReader();
  const ends = [frame.subarray(0, 10), frame.subarray(10)].flatMap((part) =>
    read(part).map((found) => found.kind === 'data' && found.isFinal),
  );
  assert.deepEqual(ends, [false, true]);
});

test('createFrameReader() reads the initial window from settings, and skips unknown frames', () => {
  const settings = Buffer.from('80030004000000140000000201000004000000640000000700010000', 'hex');
  const unknown = Buffer.from('800300630000000400000000', 'hex');
  assert.deepEqual(createFrameReader()(Buffer.concat([settings, unknown, pingFrame(1)])), [
    { kind: 'settings', initialWindow: 65_536 },
    { kind: 'ping', id: 1 },
  ]);
});

const wrong: Readonly<Record<string, string>> = {
  'of another version': '800200060000000400000001',
  'that is too short': '8003000600000000',
  'that opens a stream and is too short': '800300010000000400000001',
  'that is too large': '8003000100ffffff',
};
for (const [name, hex] of Object.entries(wrong)) {
  test(`createFrameReader() refuses a control frame ${name}`, () => {
    assert.throws(() => createFrameReader()(Buffer.from(hex, 'hex')), SpdyError);
  });
}
