import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFrameReader, messageFrame, type Received } from './frames.ts';

const mask = Buffer.from([1, 2, 3, 4]);

/** As a client sends it. */
function masked(opcode: number, payload: Buffer): Buffer {
  const server = messageFrame('text', payload);
  const head = Buffer.from(server.subarray(0, server.length - payload.length));
  head[0] = 0x80 | opcode;
  head[1] = (head[1] ?? 0) | 0x80;
  return Buffer.concat([head, mask, Buffer.from(payload.map((b, at) => b ^ (mask[at % 4] ?? 0)))]);
}

const ping = (text: string): Received => ({ kind: 'ping', payload: Buffer.from(text) });

const cases: readonly (readonly [string, readonly Buffer[], readonly Received[]])[] = [
  ['a ping', [masked(9, Buffer.from('hi'))], [ping('hi')]],
  ['a close', [masked(8, Buffer.alloc(0))], [{ kind: 'close' }]],
  ['no pong', [masked(10, Buffer.from('x'))], []],
  [
    'what follows a skipped message',
    [masked(2, Buffer.alloc(300)), masked(9, Buffer.from('a'))],
    [ping('a')],
  ],
  [
    'what follows a large message',
    [masked(1, Buffer.alloc(70_000)), masked(8, Buffer.alloc(2))],
    [{ kind: 'close' }],
  ],
  ['a frame without a mask', [messageFrame('text', Buffer.from('x'))], [{ kind: 'broken' }]],
  ['a control frame that is too long', [masked(9, Buffer.alloc(126))], [{ kind: 'broken' }]],
];
for (const [name, frames, expected] of cases) {
  test(`createFrameReader() reads ${name}, whole and byte by byte`, () => {
    const bytes = Buffer.concat([...frames]);
    assert.deepEqual(createFrameReader()(bytes), expected);
    const read = createFrameReader();
    const pieces = [...bytes].flatMap((byte) => read(Buffer.from([byte])));
    // What comes after a broken frame is not worth anything.
    assert.deepEqual(pieces.slice(0, expected.length), expected);
  });
}

test('messageFrame() writes the length in the shortest form', () => {
  const sizes = [0, 125, 126, 65_535, 65_536];
  const heads = sizes.map((size) => messageFrame('binary', Buffer.alloc(size)).length - size);
  assert.deepEqual(heads, [2, 2, 4, 4, 10]);
});
