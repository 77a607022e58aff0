import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import type { IPAddress, ParentReference } from './types.ts';
import { nameIsCanonicalIP, validateIPAddress, validateIPAddressUpdate } from './validate.ts';

const address = (parentRef?: ParentReference): IPAddress => ({
  kind: 'IPAddress',
  apiVersion: 'networking.k8s.io/v1',
  metadata: { name: '10.96.0.1' },
  spec: parentRef === undefined ? {} : { parentRef },
});
const parent = { resource: 'services', namespace: 'default', name: 'web' };

test('nameIsCanonicalIP() accepts canonical addresses (IPA-13, IPA-15)', () => {
  assert.deepEqual(nameIsCanonicalIP('2001:db8::1'), []);
  assert.deepEqual(nameIsCanonicalIP('2001:DB8::1'), ['must be in canonical form ("2001:db8::1")']);
  assert.deepEqual(nameIsCanonicalIP('10.96.0.01'), ['must not have leading 0s']);
});

const cases: readonly [string, ParentReference | undefined, readonly string[]][] = [
  ['accepts a service', parent, []],
  ['wants a parent', undefined, ['spec.parentRef: Required value']],
  [
    'wants to know which',
    {},
    ['spec.parentRef.resource: Required value', 'spec.parentRef.name: Required value'],
  ],
  [
    'wants names that fit into a path',
    { resource: 'a/b', name: 'c/d', namespace: 'e/f' },
    [
      'spec.parentRef.resource: Invalid value: "a/b": may not contain \'/\'',
      'spec.parentRef.name: Invalid value: "c/d": may not contain \'/\'',
      'spec.parentRef.namespace: Invalid value: "e/f": may not contain \'/\'',
    ],
  ],
];

for (const [name, parentRef, wanted] of cases) {
  test(`validateIPAddress() ${name} (IPA-15)`, () => {
    assert.deepEqual(validateIPAddress(address(parentRef)).map(errorText), wanted);
  });
}

test('validateIPAddressUpdate() keeps the parent, and shows it in Go spelling (IPA-15)', () => {
  const change = (after?: ParentReference) =>
    validateIPAddressUpdate(address(parent), address(after)).map(errorText);
  assert.deepEqual(change(parent), []);
  assert.deepEqual(change({ ...parent, name: 'other' }), [
    'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"default","Name":"other"}: field is immutable',
  ]);
  assert.deepEqual(change(), [
    'spec.parentRef: Required value',
    'spec.parentRef: Invalid value: null: field is immutable',
  ]);
});
