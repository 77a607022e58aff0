import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UnpackError } from './unpack-error.ts';
import { whiteoutOf } from './whiteout.ts';

const cases: Readonly<Record<string, ReturnType<typeof whiteoutOf>>> = {
  'etc/passwd': undefined,
  'etc/a.wh.b': undefined,
  'etc/.wh.passwd': { kind: 'removed', path: 'etc/passwd' },
  './.wh.etc': { kind: 'removed', path: 'etc' },
  '/.wh.a b': { kind: 'removed', path: 'a b' },
  'etc/.wh.dir/': { kind: 'removed', path: 'etc/dir' },
  'etc/.wh..hidden': { kind: 'removed', path: 'etc/.hidden' },
  'etc/.wh....': { kind: 'removed', path: 'etc/...' },
  'var/.wh..wh..opq': { kind: 'opaque', directory: 'var' },
  '.wh..wh..opq': { kind: 'opaque', directory: '' },
  '.wh..wh.plnk': { kind: 'ignored' },
  '.wh..wh.aufs': { kind: 'ignored' },
};

const refused = ['.wh.', 'etc/.wh.', 'etc/.wh..', 'etc/.wh...', '.wh.a/b', '.wh..wh..opq/x'];

describe('whiteoutOf()', () => {
  for (const [path, expected] of Object.entries(cases)) {
    it(`reads ${path}`, () => assert.deepEqual(whiteoutOf(path), expected));
  }
  for (const path of refused) {
    it(`refuses ${path}`, () => assert.throws(() => whiteoutOf(path), UnpackError));
  }
});
