import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { compress } from './compress.ts';

describe('compress()', () => {
  const large = Buffer.alloc(200 * 1024, 'abc');
  const cases = [
    { name: 'a large answer', body: large, accept: 'deflate, gzip', gzip: true },
    { name: 'a small answer', body: Buffer.from('{}'), accept: 'gzip', gzip: false },
    {
      name: 'a large response in an encoding that the client does not accept',
      body: large,
      accept: 'br',
      gzip: false,
    },
    { name: 'a large answer to who says nothing', body: large, accept: undefined, gzip: false },
  ];
  for (const { name, body, accept, gzip } of cases) {
    it(`${gzip ? 'compresses' : 'leaves'} ${name}`, async () => {
      const result = await compress(body, accept);
      assert.equal(result.headers['content-encoding'], gzip ? 'gzip' : undefined);
      assert.deepEqual(gzip ? gunzipSync(result.body) : result.body, body);
    });
  }
});
