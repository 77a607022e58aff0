import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { spdyDictionary, spdyDictionaryId } from './spdy-dictionary.ts';

test('the dictionary is the one that zlib knows by its sum', () => {
  assert.equal(spdyDictionary.length, 1423);
  const stream = deflateSync('x', { dictionary: spdyDictionary });
  assert.equal(stream.readUInt32BE(2), spdyDictionaryId);
});
