import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode } from '../../schema/decode.ts';
import { persistentVolumeClaimDefinition } from '../persistent-volume-claim/definition.ts';
import type { PersistentVolumeClaim } from '../persistent-volume-claim/types.ts';
import { persistentVolumeDefinition } from './definition.ts';
import type { PersistentVolume } from './types.ts';
import { createVolumeIndex } from './volume-index.ts';

type Given = {
  readonly size?: string;
  readonly modes?: readonly string[];
  readonly version?: number;
  readonly spec?: object;
  readonly labels?: object;
};

function volume(name: string, { size = '1Gi', modes, version = 1, spec, labels }: Given = {}) {
  const raw = {
    metadata: { name, resourceVersion: String(version), labels },
    spec: { capacity: { storage: size }, accessModes: modes ?? ['ReadWriteOnce'], ...spec },
    status: { phase: 'Available' },
  };
  return decode(persistentVolumeDefinition.schema, raw).object as PersistentVolume;
}

function claim(storage: string, spec: object = {}): PersistentVolumeClaim {
  const raw = {
    metadata: { name: 'c', namespace: 'default', uid: 'u' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...spec },
  };
  return decode(persistentVolumeClaimDefinition.schema, raw).object as PersistentVolumeClaim;
}

const many = ['ReadWriteMany', 'ReadWriteOnce'];
const gold = { matchLabels: { tier: 'gold' } };
const chosen: readonly [string, readonly PersistentVolume[], PersistentVolumeClaim, string?][] = [
  [
    'the smallest that is large enough',
    [volume('a', { size: '5Gi' }), volume('b', { size: '2Gi' }), volume('c')],
    claim('1500Mi'),
    'b',
  ],
  ['the first name of equal ones', [volume('b'), volume('a')], claim('1Gi'), 'a'],
  [
    'fewer access modes before a smaller size',
    [volume('a', { modes: many }), volume('b', { size: '9Gi' })],
    claim('1Gi'),
    'b',
  ],
  ['one of the class', [volume('a', { spec: { storageClassName: 'x' } })], claim('1Gi')],
  [
    'one that the selector selects',
    [volume('a'), volume('b', { labels: { tier: 'gold' } })],
    claim('1Gi', { selector: gold }),
    'b',
  ],
  [
    'none that is reserved',
    [volume('a', { spec: { claimRef: { namespace: 'x', name: 'y' } } })],
    claim('1Gi'),
  ],
];
for (const [name, volumes, wanted, found] of chosen) {
  test(`createVolumeIndex() finds ${name}`, () => {
    const index = createVolumeIndex();
    for (const one of volumes) index.put(one);
    assert.equal(index.smallest(wanted)?.metadata.name, found);
  });
}

test('createVolumeIndex() ignores older versions and forgets what is removed', () => {
  const index = createVolumeIndex();
  index.put(volume('a', { size: '3Gi', version: 2 }));
  index.put(volume('a', { size: '1Gi', version: 1 }));
  assert.equal(index.smallest(claim('2Gi'))?.metadata.name, 'a');
  index.remove('a');
  assert.equal(index.smallest(claim('1Gi')), undefined);
});

test('createVolumeIndex() knows what is reserved for a claim', () => {
  const index = createVolumeIndex();
  const reserve = (uid?: string) =>
    volume('a', { version: 3, spec: { claimRef: { namespace: 'default', name: 'c', uid } } });
  index.put(reserve());
  assert.equal(index.reservedFor(claim('1Gi'))?.metadata.name, 'a');
  index.put(reserve('another'));
  assert.equal(index.reservedFor(claim('1Gi')), undefined);
});
