import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { defaultClass } from './default-class.ts';
import { storageClassDefinition as definition } from './definition.ts';
import type { StorageClass } from './types.ts';

function storageClass(fields: object): StorageClass {
  const raw = { metadata: { name: 's' }, provisioner: 'x.example/p', ...fields };
  const object = decode(definition.schema, raw).object as StorageClass;
  return definition.defaults?.(object) ?? object;
}

const topology = (...expressions: object[]) => ({ matchLabelExpressions: expressions });
const zone = { key: 'zone', values: ['a', 'b'] };

const created: readonly [string, object, readonly string[]][] = [
  ['accepts what is complete', { allowedTopologies: [topology(zone)] }, []],
  ['wants a provisioner', { provisioner: '' }, ['provisioner: Required value']],
  [
    'knows policies and modes',
    { reclaimPolicy: 'Odd', volumeBindingMode: 'Odd' },
    [
      'reclaimPolicy: Unsupported value: "Odd": supported values: "Delete", "Retain"',
      'volumeBindingMode: Unsupported value: "Odd": supported values: "Immediate", "WaitForFirstConsumer"',
    ],
  ],
  [
    'finds terms that say the same in another order',
    { allowedTopologies: [topology(zone), topology({ key: 'zone', values: ['b', 'a'] })] },
    ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
  ],
  [
    'limits the number of parameters',
    { parameters: Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`k${i}`, ''])) },
    ['parameters: Too long: may not be more than 512 bytes'],
  ],
];
for (const [name, fields, errors] of created) {
  test(`validateStorageClass() ${name}`, () => {
    const judged = definition.create.validateCreate(storageClass(fields));
    assert.deepEqual(judged.map(errorText), errors);
  });
}

test('validateStorageClassUpdate() lets only expansion, mounts and topologies change', () => {
  const before = storageClass({});
  const after = storageClass({
    ...{ provisioner: 'y.example/p', reclaimPolicy: 'Retain', parameters: { a: 'b' } },
    ...{ volumeBindingMode: 'WaitForFirstConsumer', allowVolumeExpansion: true },
  });
  assert.deepEqual(definition.update.validateUpdate(before, after).map(errorText), [
    'parameters: Forbidden: updates to parameters are forbidden.',
    'provisioner: Forbidden: updates to provisioner are forbidden.',
    'reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.',
    'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
  ]);
});

test('defaultClass() takes the newest, and of equally old ones the first by name', () => {
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  const one = (name: string, day: number, more = {}) =>
    storageClass({
      metadata: { name, annotations, creationTimestamp: `2026-01-0${day}T00:00:00Z`, ...more },
    });
  const plain = one('z', 9, { annotations: {} });
  assert.equal(defaultClass([plain]), undefined);
  const found = defaultClass([one('old', 1), one('b', 2), one('a', 2), plain]);
  assert.equal(found?.metadata.name, 'a');
});
