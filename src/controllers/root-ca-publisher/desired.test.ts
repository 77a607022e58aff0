import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigMap } from '../../kinds/config-map/types.ts';
import { desiredRootCa } from './desired.ts';

function made(certificate: string): ConfigMap {
  const change = desiredRootCa('a', certificate, undefined);
  if (change.action !== 'create') assert.fail(`${change.action}, not create`);
  return change.configMap;
}

test('desiredRootCa() creates a missing ConfigMap', () => {
  const { metadata, data } = made('CA');
  assert.equal(metadata.name, 'kube-root-ca.crt');
  assert.equal(metadata.namespace, 'a');
  assert.match(metadata.annotations?.['kubernetes.io/description'] ?? '', /^Contains a CA bundle/);
  assert.deepEqual(data, { 'ca.crt': 'CA' });
});

const own = made('CA');
const cases: readonly { name: string; actual: ConfigMap; changes: boolean }[] = [
  { name: 'leaves an up-to-date ConfigMap alone', actual: own, changes: false },
  {
    name: 'keeps other labels and annotations',
    actual: {
      ...own,
      metadata: {
        ...own.metadata,
        labels: { a: 'b' },
        annotations: { ...own.metadata.annotations, c: 'd' },
      },
    },
    changes: false,
  },
  {
    name: 'restores a changed certificate',
    actual: { ...own, data: { 'ca.crt': 'other' } },
    changes: true,
  },
  {
    name: 'removes added keys',
    actual: { ...own, data: { ...own.data, more: 'x' } },
    changes: true,
  },
  {
    name: 'restores the description',
    actual: { ...own, metadata: { name: 'kube-root-ca.crt', namespace: 'a' } },
    changes: true,
  },
];
for (const { name, actual, changes } of cases) {
  test(`desiredRootCa() ${name}`, () => {
    const change = desiredRootCa('a', 'CA', actual);
    assert.equal(change.action, changes ? 'update' : 'none');
    if (change.action !== 'none') assert.deepEqual(change.configMap, own);
  });
}
