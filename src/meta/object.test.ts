import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withMetadata } from './object.ts';

test('withMetadata() replaces the metadata in a copy with the same field order', () => {
  const before = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { x: '1' } };
  const after = withMetadata(before, { name: 'a', namespace: 'default' });
  assert.equal(
    JSON.stringify(after),
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default"},"data":{"x":"1"}}',
  );
  assert.equal(after.data, before.data);
  assert.deepEqual(before.metadata, { name: 'a' });
});
