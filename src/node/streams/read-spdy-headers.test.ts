import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constants, createDeflate, inflateSync } from 'node:zlib';
import { createHeaderReader, createHeaderWriter } from './read-spdy-headers.ts';
import { spdyDictionary } from './spdy-dictionary.ts';
import { SpdyError } from './spdy-frames.ts';

function plain(headers: Readonly<Record<string, string>>): Buffer {
  const words = Object.entries(headers).flat();
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  return Buffer.concat([
    number(words.length / 2),
    ...words.flatMap((word) => [number(Buffer.byteLength(word)), Buffer.from(word)]),
  ]);
}

/** As a client does it: one stream, flushed after each block. */
async function compressed(blocks: readonly Buffer[]): Promise<readonly Buffer[]> {
  const deflate = createDeflate({ dictionary: spdyDictionary });
  const all: Buffer[] = [];
  for (const block of blocks) {
    deflate.write(block);
    await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve));
    all.push((deflate.read() as Buffer | null) ?? Buffer.alloc(0));
  }
  deflate.close();
  return all;
}

test('createHeaderReader() reads blocks that refer to earlier blocks', async () => {
  const headers = Array.from({ length: 2000 }, (_, index) => ({
    streamtype: index % 2 === 0 ? 'error' : 'data',
    port: '8080',
    requestid: String(index >> 1),
  }));
  const read = createHeaderReader();
  const found = (await compressed(headers.map(plain))).map((block) =>
    Object.fromEntries(read(block)),
  );
  assert.deepEqual(found, headers);
});

test('createHeaderReader() reads headers of kubectl', () => {
  const read = createHeaderReader();
  const first = '78f9e3c6a7c26260606004a7b392a2d4c45c6851c29a0a0a6800000000ffff';
  const second = 'c22ac5565c92925f5a02000000ffff';
  assert.deepEqual([...read(Buffer.from(first, 'hex'))], [['streamtype', 'error']]);
  assert.deepEqual([...read(Buffer.from(second, 'hex'))], [['streamtype', 'stdout']]);
});

test('createHeaderWriter() writes one zlib stream', () => {
  const write = createHeaderWriter();
  const stream = Buffer.concat([write({}), write({ Name: 'value' })]);
  const text = inflateSync(stream, {
    dictionary: spdyDictionary,
    finishFlush: constants.Z_SYNC_FLUSH,
  });
  assert.deepEqual(text, Buffer.concat([plain({}), plain({ name: 'value' })]));
});

test('createHeaderReader() refuses malformed headers', async () => {
  const [many = Buffer.alloc(0)] = await compressed([Buffer.from('ffffffff', 'hex')]);
  const [short = Buffer.alloc(0)] = await compressed([Buffer.from('0000000100000004', 'hex')]);
  const [bomb = Buffer.alloc(0)] = await compressed([Buffer.alloc(1_000_000)]);
  for (const block of [many, short, bomb, Buffer.alloc(0), Buffer.from('7801ffffffffff', 'hex')]) {
    assert.throws(() => createHeaderReader()(block), SpdyError);
  }
});
