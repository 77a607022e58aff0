import assert from 'node:assert/strict';
import { test } from 'node:test';
import { persistentVolumeDefinition } from '../../kinds/persistent-volume/definition.ts';
import { volumeLabels } from '../../kinds/persistent-volume/local-directory.ts';
import type { PersistentVolume } from '../../kinds/persistent-volume/types.ts';
import { examplePod } from '../../kinds/pod/example.ts';
import { mirrorAnnotation } from '../../kinds/pod/mirror.ts';
import { decode } from '../../schema/decode.ts';
import { ask, exampleReader } from './example.ts';
import { authorizeNode } from './node-authorizer.ts';

const pod = (name: string, nodeName: string, spec: object, metadata: object = {}) =>
  examplePod({ metadata: { name, namespace: 'ns', ...metadata }, spec: { nodeName, ...spec } });

const uses = (name: string): object => ({
  serviceAccountName: name,
  imagePullSecrets: [{ name: `${name}-pull` }],
  containers: [
    {
      name: 'c',
      env: [
        { name: 'A', valueFrom: { secretKeyRef: { name: `${name}-key`, key: 'k' } } },
        { name: 'B', valueFrom: { configMapKeyRef: { name: `${name}-key`, key: 'k' } } },
      ],
      envFrom: [{ secretRef: { name: `${name}-env` } }, { configMapRef: { name: `${name}-env` } }],
    },
  ],
  volumes: [
    { name: 'a', secret: { secretName: `${name}-volume` } },
    { name: 'b', configMap: { name: `${name}-volume` } },
    { name: 'c', cephfs: { monitors: ['m'], secretRef: { name: `${name}-ceph` } } },
    { name: 'd', csi: { driver: 'd', nodePublishSecretRef: { name: `${name}-csi` } } },
    { name: 'e', azureFile: { shareName: 's', secretName: `${name}-azure` } },
    { name: 'g', persistentVolumeClaim: { claimName: `${name}-claim` } },
    {
      name: 'f',
      projected: {
        sources: [
          { secret: { name: `${name}-projected` } },
          { configMap: { name: `${name}-projected` } },
        ],
      },
    },
  ],
});

function volume(name: string, claim: string, node: string) {
  const { schema } = persistentVolumeDefinition;
  const metadata = { name, labels: volumeLabels(node) };
  const spec = { claimRef: { namespace: 'ns', name: claim } };
  const raw = { kind: 'PersistentVolume', apiVersion: 'v1', metadata, spec };
  return decode(schema, raw).object as PersistentVolume;
}

const reader = exampleReader([
  pod('p1', 'n1', uses('own')),
  pod('p2', 'n2', uses('other')),
  pod('m1', 'n1', uses('mirrored'), { annotations: { [mirrorAnnotation]: 'x' } }),
  examplePod({ metadata: { name: 'p0', namespace: 'ns' }, spec: uses('unbound') }),
  volume('own-volume', 'own-claim', 'n9'),
  volume('other-volume', 'other-claim', 'n9'),
  volume('own-directory', 'gone', 'n1'),
]);
const user = { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };

const unrelated = "no relationship found between node 'n1' and this object";
const readOnly = 'can only read resources of this type';
const ownLease = 'can only access node lease with the same name as the requesting node';
const tokensOnly = 'can only create tokens for individual service accounts';
const leases = 'leases.coordination.k8s.io';

/** Text: refused for this reason, empty for none. */
const cases: readonly (readonly [request: string, expected: true | string])[] = [
  ...['pull', 'key', 'env', 'volume', 'ceph', 'csi', 'azure', 'projected'].flatMap(
    (use) =>
      [
        [`get secrets own-${use} in ns`, true],
        [`get secrets other-${use} in ns`, unrelated],
      ] as const,
  ),
  ...['key', 'env', 'volume', 'projected'].flatMap(
    (use) =>
      [
        [`get configmaps own-${use} in ns`, true],
        [`get configmaps other-${use} in ns`, unrelated],
      ] as const,
  ),
  ['list secrets own-key in ns', true],
  ['watch secrets own-key in ns', true],
  ['get secrets own-key in elsewhere', unrelated],
  ['get secrets mirrored-key in ns', unrelated],
  ['get secrets unbound-key in ns', unrelated],
  ['list secrets in ns', 'No Object name found'],
  ['list secrets', 'can only read namespaced object of this type'],
  ['get secrets/x own-key in ns', 'cannot read subresource'],
  ['update secrets own-key in ns', readOnly],
  ['create configmaps in ns', readOnly],
  ['get persistentvolumes own-volume', true],
  ['get persistentvolumes other-volume', unrelated],
  ['get persistentvolumes missing', unrelated],
  ['patch persistentvolumes own-directory', true],
  ['patch persistentvolumes own-volume', unrelated],
  ['delete persistentvolumes own-directory', 'can only get individual resources of this type'],
  ['list persistentvolumes', 'can only list/watch the volumes that are directories of the node'],
  ['get persistentvolumeclaims own-claim in ns', true],
  ['get persistentvolumeclaims other-claim in ns', unrelated],
  ['list persistentvolumeclaims own-claim in ns', 'can only get individual resources of this type'],
  ['create serviceaccounts/token own in ns', true],
  ['create serviceaccounts/token other in ns', unrelated],
  ['create serviceaccounts/token mirrored in ns', unrelated],
  ['create serviceaccounts in ns', tokensOnly],
  ['get serviceaccounts own in ns', tokensOnly],
  ['create serviceaccounts/other own in ns', 'can only create token subresource of serviceaccount'],
  [`create ${leases} in kube-node-lease`, true],
  [`get ${leases} n1 in kube-node-lease`, true],
  [`patch ${leases} n1 in kube-node-lease`, true],
  [`update ${leases} n2 in kube-node-lease`, ownLease],
  [
    `list ${leases} in kube-node-lease`,
    'can only get, create, update, patch, or delete a node lease',
  ],
  [
    `get ${leases} n1 in kube-system`,
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  ['create nodes', true],
  ['get nodes n1', true],
  ['watch nodes n1', true],
  ['update nodes n1', true],
  ['patch nodes/status n1', true],
  ['get nodes n2', "node 'n1' cannot read 'n2', only its own Node object"],
  ['list nodes', "node 'n1' cannot read all nodes, only its own Node object"],
  ['delete nodes n1', ''],
  ['get nodes/status n1', ''],
  ['get nodes/proxy n1', ''],
  ['get pods p1 in ns', true],
  ['get pods m1 in ns', true],
  ['get pods p2 in ns', unrelated],
  ['get pods gone in ns', unrelated],
  ['list pods in ns', 'can only list/watch pods with spec.nodeName field selector'],
  ['watch pods', 'can only list/watch pods with spec.nodeName field selector'],
  ['create pods in ns', true],
  ['delete pods p1 in ns', true],
  ['deletecollection pods in ns', ''],
  ['update pods p1 in ns', ''],
  ['update pods/status p1 in ns', true],
  ['create pods/eviction p1 in ns', true],
  ['create pods/binding p1 in ns', ''],
  ['get pods/log p1 in ns', ''],
  ['list services', true],
  ['create services in ns', ''],
  ['get endpoints x in ns', true],
  ['list endpointslices.discovery.k8s.io', ''],
  ['create events in ns', true],
  ['get events x in ns', ''],
  ['create subjectaccessreviews.authorization.k8s.io', true],
  ['get volumeattachments.storage.k8s.io x', ''],
  ['get /healthz', ''],
];

for (const [request, expected] of cases) {
  test(`authorizeNode() ${expected === true ? 'lets' : 'does not let'} a node ${request}`, () => {
    assert.deepEqual(authorizeNode(reader, user, ask(request)), {
      allowed: expected === true,
      reason: expected === true ? '' : expected,
    });
  });
}

const selectors: readonly (readonly [string, boolean])[] = [
  ['spec.nodeName=n1', true],
  ['spec.nodeName==n1', true],
  ['status.phase!=Running,spec.nodeName=n1', true],
  ['spec.nodeName=n2', false],
  ['spec.nodeName!=n1', false],
  ['metadata.name=n1', false],
  ['spec.nodeName=n1,', true],
  ['spec.nodeName=n1,x', false],
];
for (const [fieldSelector, expected] of selectors) {
  test(`authorizeNode() ${expected ? 'lets' : 'does not let'} a node watch pods with ${fieldSelector}`, () => {
    const request = { ...ask('watch pods'), fieldSelector };
    assert.equal(authorizeNode(reader, user, request).allowed, expected);
  });
}

test('authorizeNode() has no opinion about others, and no name for a node without one', () => {
  const request = ask('get nodes n1');
  const none = { allowed: false, reason: '' };
  assert.deepEqual(authorizeNode(reader, { ...user, groups: [] }, request), none);
  assert.deepEqual(authorizeNode(reader, { ...user, name: 'n1' }, request), none);
  assert.deepEqual(authorizeNode(reader, { ...user, name: 'system:node:' }, request), {
    allowed: false,
    reason: 'unknown node for user "system:node:"',
  });
});
