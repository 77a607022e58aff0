import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { persistentVolumeClaimDefinition as definition } from './definition.ts';
import type { PersistentVolumeClaim } from './types.ts';

const size = (storage: string) => ({ resources: { requests: { storage } } });
const good = { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', ...size('1Gi') };

function claim(spec: object, more: object = {}): PersistentVolumeClaim {
  const raw = { metadata: { name: 'c', namespace: 'default' }, spec, ...more };
  const object = decode(definition.schema, raw).object as PersistentVolumeClaim;
  return definition.defaults?.(object) ?? object;
}

const modes =
  'supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"';

const created: readonly [string, object, readonly string[]][] = [
  ['accepts a complete claim', good, []],
  [
    'accepts limits below requests',
    { ...good, resources: { requests: { storage: '2Gi' }, limits: { storage: '1Gi' } } },
    [],
  ],
  ['accepts an empty class', { ...good, storageClassName: '' }, []],
  [
    'wants access modes and a size',
    {},
    [
      'spec.accessModes: Required value: at least 1 access mode is required',
      'spec.resources[storage]: Required value',
    ],
  ],
  [
    'knows the modes',
    { ...good, accessModes: ['Odd'] },
    [`spec.accessModes: Unsupported value: "Odd": ${modes}`],
  ],
  [
    'allows ReadWriteOncePod only alone',
    { ...good, accessModes: ['ReadWriteOncePod', 'ReadWriteOnce'] },
    ['spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes'],
  ],
  [
    'wants a size above zero',
    { ...good, ...size('0') },
    ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
  ],
  [
    'knows the volume modes',
    { ...good, volumeMode: 'Odd' },
    ['spec.volumeMode: Unsupported value: "Odd": supported values: "Block", "Filesystem"'],
  ],
  [
    'wants equal sources',
    {
      ...good,
      dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
      dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
    },
    ['spec: Invalid value: "spec.dataSource": must match dataSourceRef'],
  ],
];
for (const [name, spec, errors] of created) {
  test(`validateClaim() ${name}`, () => {
    assert.deepEqual(definition.create.validateCreate(claim(spec)).map(errorText), errors);
  });
}

const bound = { status: { phase: 'Bound', capacity: { storage: '2Gi' } } };
const immutable =
  'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n';

const changes: readonly [
  string,
  PersistentVolumeClaim,
  PersistentVolumeClaim,
  readonly string[],
][] = [
  ['lets the volume be set once', claim(good), claim({ ...good, volumeName: 'v' }), []],
  [
    'does not let the volume change',
    claim({ ...good, volumeName: 'v' }),
    claim({ ...good, volumeName: 'w' }),
    [
      `${immutable}@@ -9,7 +9,7 @@\n    "storage": "1Gi"\n   }\n  },\n- "VolumeName": "v",\n+ "VolumeName": "w",\n  "StorageClassName": "fast",\n  "VolumeMode": "Filesystem",\n  "DataSource": null,\n`,
    ],
  ],
  [
    'lets a claim without a class get one',
    claim({ ...good, storageClassName: undefined }),
    claim(good),
    [],
  ],
  ['lets bound claims grow', claim(good, bound), claim({ ...good, ...size('3Gi') }, bound), []],
  [
    'lets claims shrink to no less than their capacity',
    claim({ ...good, ...size('4Gi') }, bound),
    claim({ ...good, ...size('2Gi') }, bound),
    ['spec.resources.requests.storage: Forbidden: field can not be less than status.capacity'],
  ],
  [
    'lets claims shrink that are larger than their capacity',
    claim({ ...good, ...size('4Gi') }, bound),
    claim({ ...good, ...size('3Gi') }, bound),
    [],
  ],
];
for (const [name, before, after, errors] of changes) {
  test(`validateClaimUpdate() ${name}`, () => {
    assert.deepEqual(definition.update.validateUpdate(before, after).map(errorText), errors);
  });
}

test('prepareClaimCreate() drops sources of unknown kinds', () => {
  const dataSource = { apiGroup: 'x.example', kind: 'Thing', name: '' };
  const prepared = definition.create.prepareCreate?.(claim({ ...good, dataSource }), { now: '' });
  assert.equal(prepared?.spec.dataSource, undefined);
});

test('prepareClaimCreate() says the source in both fields', () => {
  const dataSource = { kind: 'PersistentVolumeClaim', name: 'a' };
  const prepared = definition.create.prepareCreate?.(claim({ ...good, dataSource }), { now: '' });
  assert.deepEqual(prepared?.spec.dataSourceRef, dataSource);
});

test('claimWarnings() warns about fractions of bytes', () => {
  assert.deepEqual(definition.create.warnOnCreate?.(claim({ ...good, ...size('1500m') })), [
    'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
  ]);
});
