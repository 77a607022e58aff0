import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ipAddressDefinition } from './definition.ts';
import type { ParentReference } from './types.ts';

test('ipAddressDefinition shows the parent and no age', () => {
  const row = (parentRef: ParentReference) =>
    ipAddressDefinition.columns.map((column) =>
      column.cell(
        { kind: 'IPAddress', apiVersion: '', metadata: { name: '10.96.0.1' }, spec: { parentRef } },
        0,
      ),
    );
  const service = { resource: 'services', namespace: 'default', name: 'web' };
  assert.deepEqual(row(service), ['10.96.0.1', 'services/default/web']);
  const other = { group: 'example.com', resource: 'things', name: 'x' };
  assert.deepEqual(row(other), ['10.96.0.1', 'things.example.com/x']);
});
