import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceAccountDefinition } from './definition.ts';
import type { ServiceAccount } from './types.ts';

const context = { now: '2026-01-02T03:04:05Z' };
const annotation = 'kubernetes.io/enforce-mountable-secrets';

function account(fields: Partial<ServiceAccount>): ServiceAccount {
  return { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'a' }, ...fields };
}

test('a service account keeps only the names of its secrets', () => {
  const given = account({ secrets: [{ name: 's', namespace: 'elsewhere', kind: 'Secret' }] });
  const { prepareCreate } = serviceAccountDefinition.create;
  const { prepareUpdate } = serviceAccountDefinition.update;
  assert.deepEqual(prepareCreate?.(given, context).secrets, [{ name: 's' }]);
  assert.deepEqual(prepareUpdate?.(given, given, context).secrets, [{ name: 's' }]);
});

test('adding the deprecated annotation causes a warning', () => {
  const plain = account({});
  const marked = account({ metadata: { name: 'a', annotations: { [annotation]: 'true' } } });
  const warning = `metadata.annotations[${annotation}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`;
  const { warnOnUpdate } = serviceAccountDefinition.update;
  assert.deepEqual(serviceAccountDefinition.create.warnOnCreate?.(marked), [warning]);
  assert.deepEqual(warnOnUpdate?.(plain, marked), [warning]);
  assert.deepEqual(warnOnUpdate?.(marked, marked), []);
});
