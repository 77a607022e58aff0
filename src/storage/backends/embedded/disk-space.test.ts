import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isStoreError } from '../../store-error.ts';
import { assertFreeSpace } from './disk-space.ts';

test('assertFreeSpace() tells a full disk from a directory that is gone', () => {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-space-'));
  const file = join(directory, 'store.mdb');
  assertFreeSpace(file, 1);
  assert.throws(
    () => assertFreeSpace(file, Number.MAX_SAFE_INTEGER),
    (error) => isStoreError(error, 'full'),
  );
  rmSync(directory, { recursive: true });
  assert.throws(
    () => assertFreeSpace(file, 1),
    (error) => isStoreError(error, 'unavailable'),
  );
});
