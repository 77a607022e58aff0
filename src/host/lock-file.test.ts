import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { lockFile, tryLockFile } from './lock-file.ts';

function inDirectory(check: (path: string) => Promise<void> | void): () => Promise<void> {
  return async () => {
    const directory = mkdtempSync(join(tmpdir(), 'fairlead-lock-'));
    try {
      await check(join(directory, 'lock'));
    } finally {
      rmSync(directory, { recursive: true });
    }
  };
}

describe('tryLockFile()', () => {
  it(
    'gives an exclusive lock to one holder, and shared ones to many',
    inDirectory((path) => {
      const exclusive = tryLockFile(path, 'exclusive');
      assert.ok(exclusive !== undefined);
      assert.equal(tryLockFile(path, 'exclusive'), undefined);
      assert.equal(tryLockFile(path, 'shared'), undefined);
      exclusive.release();
      const first = tryLockFile(path, 'shared');
      const second = tryLockFile(path, 'shared');
      assert.ok(first !== undefined && second !== undefined);
      first.release();
      assert.equal(tryLockFile(path, 'exclusive'), undefined);
      second.release();
      tryLockFile(path, 'exclusive')?.release();
    }),
  );
});

describe('lockFile()', () => {
  it(
    'waits for the holder, and then locks the file that is there, not the one that was',
    inDirectory(async (path) => {
      const holder = tryLockFile(path, 'exclusive');
      const waiting = lockFile(path, 'exclusive', new AbortController().signal);
      renameSync(path, `${path}.done`);
      holder?.release();
      const lock = await waiting;
      assert.equal(tryLockFile(path, 'exclusive'), undefined);
      lock.release();
    }),
  );

  it(
    'ends with the signal',
    inDirectory(async (path) => {
      const holder = tryLockFile(path, 'exclusive');
      await assert.rejects(lockFile(path, 'shared', AbortSignal.abort()), /abort/i);
      holder?.release();
    }),
  );
});
