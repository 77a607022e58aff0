import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { persistentVolumeDefinition as definition } from './definition.ts';
import type { PersistentVolume } from './types.ts';

const hostPath = { path: '/srv/x' };
const good = { capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'], hostPath };
const { hostPath: _none, ...bare } = good;
const affinity = (key: string) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }] },
});

function volume(spec: object, status: object = {}): PersistentVolume {
  const raw = { metadata: { name: 'v' }, spec, status };
  const object = decode(definition.schema, raw).object as PersistentVolume;
  return definition.defaults?.(object) ?? object;
}

const created: readonly [string, object, readonly string[]][] = [
  ['accepts a host path', good, []],
  [
    'accepts a local directory',
    { ...bare, local: { path: '/x' }, nodeAffinity: affinity('k') },
    [],
  ],
  [
    'wants nodes for a local directory',
    { ...bare, local: { path: '/x' } },
    ['spec.nodeAffinity: Required value: Local volume requires node affinity'],
  ],
  [
    'refuses steps back',
    { ...bare, local: { path: '/x/../../etc' }, nodeAffinity: affinity('k') },
    ['spec.local.path: Invalid value: "/x/../../etc": must not contain \'..\''],
  ],
  ['wants a source', bare, ['spec: Required value: must specify a volume type']],
  [
    'takes one source',
    { ...good, local: { path: '/x' }, nodeAffinity: affinity('k') },
    ['spec.local: Forbidden: may not specify more than 1 volume type'],
  ],
  [
    'wants a storage capacity and no other',
    { ...good, capacity: { storage: '1', cpu: '-1' } },
    [
      'spec.capacity: Unsupported value: {"cpu":"-1","storage":"1"}: supported values: "storage"',
      'spec.capacity[cpu]: Invalid value: -1: must be a valid resource quantity',
      'spec.capacity[cpu]: Invalid value: "-1": must be greater than zero',
    ],
  ],
  [
    'does not empty a root directory',
    { ...good, hostPath: { path: '//.' }, persistentVolumeReclaimPolicy: 'Recycle' },
    [
      "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
    ],
  ],
  [
    'allows attribute classes only to drivers',
    { ...good, volumeAttributesClassName: 'gold' },
    ['spec.csi: Required value: has to be specified when using volumeAttributesClassName'],
  ],
];
for (const [name, spec, errors] of created) {
  test(`validateVolume() ${name}`, () => {
    assert.deepEqual(definition.create.validateCreate(volume(spec)).map(errorText), errors);
  });
}

const pinned = (key: string) => volume({ ...good, nodeAffinity: affinity(key) });
const changes: readonly [string, PersistentVolume, PersistentVolume, readonly string[]][] = [
  ['lets nodes be set once', volume(good), pinned('k'), []],
  [
    'does not let nodes change',
    pinned('k'),
    pinned('l'),
    [
      'nodeAffinity: Invalid value: {"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"l","operator":"Exists"}]}]}}: field is immutable',
    ],
  ],
  [
    'lets labels of nodes get their present name',
    pinned('failure-domain.beta.kubernetes.io/zone'),
    pinned('topology.kubernetes.io/zone'),
    [],
  ],
  [
    'shows what changed of the source',
    volume(good),
    volume({ ...good, hostPath: { path: '/other' } }),
    [
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@ -2,7 +2,7 @@\n  "GCEPersistentDisk": null,\n  "AWSElasticBlockStore": null,\n  "HostPath": {\n-  "Path": "/srv/x",\n+  "Path": "/other",\n   "Type": ""\n  },\n  "Glusterfs": null,\n',
    ],
  ],
];
for (const [name, before, after, errors] of changes) {
  test(`validateVolumeUpdate() ${name}`, () => {
    assert.deepEqual(definition.update.validateUpdate(before, after).map(errorText), errors);
  });
}

test('prepareVolumeStatus() notes when the phase changed', () => {
  const rules = definition.subresources?.[0]?.rules;
  const before = volume(good, {
    phase: 'Available',
    lastPhaseTransitionTime: '2026-01-01T00:00:00Z',
  });
  const now = '2026-02-02T00:00:00Z';
  const changed = { ...before, status: { ...before.status, phase: 'Bound' } };
  const timeOf = (after: PersistentVolume) =>
    rules?.prepareUpdate?.(before, after, { now }).status.lastPhaseTransitionTime;
  assert.equal(timeOf(changed), now);
  assert.equal(timeOf(before), '2026-01-01T00:00:00Z');
});
