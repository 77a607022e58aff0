import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeNamed } from '../../kinds/node/example.ts';
import { persistentVolumeDefinition } from '../../kinds/persistent-volume/definition.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import { createVolumeIndex } from '../../kinds/persistent-volume/volume-index.ts';
import { persistentVolumeClaimDefinition } from '../../kinds/persistent-volume-claim/definition.ts';
import type { PersistentVolumeClaim } from '../../kinds/persistent-volume-claim/types.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { StorageClass } from '../../kinds/storage-class/types.ts';
import { decode } from '../../schema/decode.ts';
import { selectNode } from './desired.ts';
import { clusterOf, nodeState, podNamed } from './example.ts';
import { planVolumes, type VolumeWorld } from './volumes.ts';

const resources = { requests: { storage: '1Gi' } };
const accessModes = ['ReadWriteOnce'];

function claim(spec: object = {}, status: object = {}, metadata: object = {}) {
  const raw = {
    metadata: { name: 'c', namespace: 'default', uid: 'uid-c', ...metadata },
    spec: { accessModes, resources, storageClassName: 'later', ...spec },
    status: { phase: 'Pending', ...status },
  };
  return decode(persistentVolumeClaimDefinition.schema, raw).object as PersistentVolumeClaim;
}

function volume(name: string, node: string, spec: object = {}) {
  const requirement = { key: 'kubernetes.io/hostname', operator: 'In', values: [node] };
  const raw = {
    metadata: { name, resourceVersion: '1' },
    spec: {
      ...{ accessModes, capacity: { storage: '1Gi' }, storageClassName: 'later' },
      local: { path: '/x' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [requirement] }] } },
      ...spec,
    },
    status: { phase: 'Available' },
  };
  return decode(persistentVolumeDefinition.schema, raw).object as PersistentVolume;
}

const later = (provisioner: string): StorageClass => ({
  ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name: 'later' } },
  ...{ provisioner, volumeBindingMode: 'WaitForFirstConsumer' },
});

type Given = {
  readonly claims?: readonly PersistentVolumeClaim[];
  readonly volumes?: readonly PersistentVolume[];
  readonly provisioner?: string;
  readonly users?: readonly Pod[];
};

function worldOf({ claims = [], volumes = [], provisioner, users = [] }: Given): VolumeWorld {
  const index = createVolumeIndex();
  for (const one of volumes) index.put(one);
  return {
    claimOf: (key) => claims.find(({ metadata }) => key === `default/${metadata.name}`),
    volumeOf: index.get,
    classOf: (name) => (provisioner && name === 'later' ? later(provisioner) : undefined),
    freeVolume: index.smallest,
    usersOf: () => users,
  };
}

const pod = podNamed('p', {
  volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }],
});
const [near, far] = [nodeNamed('near'), nodeNamed('far')];
const bound = (spec: object = {}) => claim({ volumeName: 'v', ...spec }, { phase: 'Bound' });

const placements: readonly [string, Given, string][] = [
  ['a missing claim', {}, '0/2 nodes are available: persistentvolumeclaim "c" not found.'],
  [
    'a claim that is deleted',
    { claims: [claim({}, {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })] },
    '0/2 nodes are available: persistentvolumeclaim "c" is being deleted.',
  ],
  [
    'a lost claim',
    { claims: [claim({ volumeName: 'v' }, { phase: 'Lost' })] },
    '0/2 nodes are available: persistentvolumeclaim "c" bound to non-existent persistentvolume "v".',
  ],
  [
    'a claim that is bound at once, and is not bound',
    { claims: [claim()] },
    '0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims.',
  ],
  [
    'a volume that is gone',
    { claims: [bound()] },
    '0/2 nodes are available: 2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s).',
  ],
  [
    'a volume of another node',
    { claims: [bound()], volumes: [volume('v', 'elsewhere')] },
    "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity.",
  ],
  [
    'no free volume and no provisioner',
    { claims: [claim()], provisioner: 'kubernetes.io/no-provisioner' },
    "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.",
  ],
  [
    'a claim of one pod only that another pod uses',
    {
      claims: [bound({ accessModes: ['ReadWriteOncePod'] })],
      volumes: [volume('v', 'near')],
      users: [podNamed('q', {}, { uid: 'other' })],
    },
    '0/2 nodes are available: 2 node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode.',
  ],
];
for (const [name, given, message] of placements) {
  test(`selectNode() refuses ${name}`, () => {
    const cluster = { ...clusterOf(nodeState(near), nodeState(far)), volumes: worldOf(given) };
    assert.deepEqual(selectNode(pod, cluster), { message });
  });
}

test('selectNode() follows the volume of a claim', () => {
  const volumes = worldOf({ claims: [bound()], volumes: [volume('v', 'far')] });
  const cluster = { ...clusterOf(nodeState(near), nodeState(far)), volumes };
  assert.deepEqual(selectNode(pod, cluster), { node: 'far' });
});

test('selectNode() waits silently while a claim is being bound', () => {
  const annotations = { 'pv.kubernetes.io/bound-by-controller': 'yes' };
  const volumes = worldOf({ claims: [claim({ volumeName: 'v' }, {}, { annotations })] });
  const cluster = { ...clusterOf(nodeState(near)), volumes };
  assert.deepEqual(selectNode(pod, cluster), { isPremature: true });
});

test('planVolumes() takes a free volume of the node, and else lets one be made there', () => {
  const wanted = claim();
  const provisioner = 'fairlead.dev/local';
  const there = volume('there', 'near');
  const world = worldOf({ claims: [wanted], volumes: [there], provisioner });
  assert.deepEqual(planVolumes(pod, near, world), [{ claim: wanted, volume: there }]);
  assert.deepEqual(planVolumes(pod, far, world), [{ claim: wanted, node: 'far' }]);
});

test('planVolumes() gives two claims two volumes', () => {
  const two = [claim(), claim({}, {}, { name: 'd', uid: 'uid-d' })];
  const volumes = [volume('v', 'near'), volume('w', 'near')];
  const both = podNamed('p', {
    volumes: ['c', 'd'].map((name) => ({ name, persistentVolumeClaim: { claimName: name } })),
  });
  const provisioner = 'kubernetes.io/no-provisioner';
  const plans = planVolumes(both, near, worldOf({ claims: two, volumes, provisioner }));
  assert.deepEqual(
    plans.map((plan) => 'volume' in plan && plan.volume.metadata.name),
    ['v', 'w'],
  );
});
