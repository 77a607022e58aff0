import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure, notFound } from '../../meta/api-error.ts';
import { isNamespaceTerminating } from './terminating-error.ts';

test('isNamespaceTerminating() checks the cause, not the message', () => {
  const cause = { reason: 'NamespaceTerminating', field: 'metadata.namespace' };
  const refusal = { code: 403, reason: 'Forbidden', message: 'being terminated' };
  assert.equal(isNamespaceTerminating(failure({ ...refusal, details: { causes: [cause] } })), true);
  assert.equal(isNamespaceTerminating(failure(refusal)), false);
  assert.equal(isNamespaceTerminating(notFound({ group: '', resource: 'pods' }, 'x')), false);
  assert.equal(isNamespaceTerminating(new Error('NamespaceTerminating')), false);
});
