import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { spdyDictionary, spdyDictionaryId } from './spdy-dictionary.ts';

test('spdyDictionary matches its Adler-32 checksum', () => {
  assert.equal(spdyDictionary.length, 1423);
  const stream = deflateSync('x', { dictionary: spdyDictionary });
  assert.equal(stream.readUInt32BE(2), spdyDictionaryId);
});
