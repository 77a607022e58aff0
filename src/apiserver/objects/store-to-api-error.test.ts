import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError, type StoreErrorReason } from '../../storage/store-error.ts';
import { storeToApiError } from './store-to-api-error.ts';

const answers: Readonly<Record<StoreErrorReason, string>> = {
  compacted: '410 Expired',
  future: '504 Timeout',
  full: '507 InsufficientStorage',
  large: '413 RequestEntityTooLarge',
  closed: '503 ServiceUnavailable',
  unavailable: '503 ServiceUnavailable',
  locked: '500 InternalError',
  damaged: '500 InternalError',
  foreign: '500 InternalError',
};

for (const [reason, wanted] of Object.entries(answers)) {
  test(`storeToApiError() makes ${wanted} of ${reason}`, () => {
    const { status } = storeToApiError(new StoreError(reason as StoreErrorReason, 'why'));
    assert.equal(`${status.code} ${status.reason}`, wanted);
    assert.equal(status.status, 'Failure');
  });
}
