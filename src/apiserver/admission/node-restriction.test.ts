import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaseDefinition } from '../../kinds/lease/definition.ts';
import { nodeDefinition } from '../../kinds/node/definition.ts';
import { podDefinition } from '../../kinds/pod/definition.ts';
import { examplePod } from '../../kinds/pod/example.ts';
import { mirrorAnnotation } from '../../kinds/pod/mirror.ts';
import { serviceDefinition } from '../../kinds/service/definition.ts';
import { serviceAccountDefinition } from '../../kinds/service-account/definition.ts';
import type { KubeObject } from '../../meta/object.ts';
import type { User } from '../access/user.ts';
import { type ExampleWrite, outcomeOf } from './example.ts';
import { nodeRestriction } from './node-restriction.ts';

const n1: User = { name: 'system:node:n1', groups: ['system:nodes'] };

const object = (kind: string, metadata: KubeObject['metadata'], more: object = {}): KubeObject => ({
  kind,
  apiVersion: 'v1',
  metadata,
  ...more,
});
const node = (metadata: KubeObject['metadata'] = {}, spec: object = {}): KubeObject =>
  object('Node', { name: 'n1', ...metadata }, { spec });
const labels = (...keys: readonly string[]): KubeObject['metadata'] => ({
  labels: Object.fromEntries(keys.map((key) => [key, 'x'])),
});
const own = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1', controller: true };
const mirror = (metadata: object = {}, spec: object = {}): KubeObject =>
  examplePod({
    metadata: {
      annotations: { [mirrorAnnotation]: 'x' },
      ownerReferences: [own],
      ...metadata,
    },
    spec: { nodeName: 'n1', ...spec },
  });
const pod = (nodeName: string, metadata: object = {}, spec: object = {}): KubeObject =>
  examplePod({ metadata: { uid: 'p1', ...metadata }, spec: { nodeName, ...spec } });
const lease = (namespace: string, name: string): KubeObject => ({
  ...object('Lease', { namespace, name }),
  apiVersion: 'coordination.k8s.io/v1',
});
const tokenVolume = (audience?: string): object => ({
  volumes: [
    { name: 'v', projected: { sources: [{ serviceAccountToken: { audience, path: 'token' } }] } },
  ],
});
const request = (boundObjectRef?: object, audiences: readonly string[] = []): KubeObject =>
  object('TokenRequest', { namespace: 'default' }, { spec: { audiences, boundObjectRef } });
const ref = { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: 'p1' };
const token = (
  after: KubeObject,
  bound: KubeObject = pod('n1', {}, tokenVolume()),
): ExampleWrite => ({
  definition: serviceAccountDefinition,
  subresource: 'token',
  name: 'sa',
  after,
  objects: [bound],
});

const nodes = { definition: nodeDefinition };
const pods = { definition: podDefinition };
const update = { operation: 'update' } as const;
const remove = { operation: 'delete', name: 'web', namespace: 'default' } as const;
const status = { ...pods, ...update, subresource: 'status' };
const n1Object = node({ uid: 'u1' });

type Case = readonly [title: string, write: ExampleWrite, refusal?: string];

const cases: readonly Case[] = [
  ['lets a node make its Node', { ...nodes, after: node(labels('a', 'kubernetes.io/hostname')) }],
  [
    'lets no node make another',
    { ...nodes, after: node({ name: 'n2' }) },
    'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"',
  ],
  [
    'lets no node make a Node without a name',
    { ...nodes, after: { ...node(), metadata: { generateName: 'n' } } },
    'nodes "n" is forbidden: node "n1" is not allowed to modify node ""',
  ],
  [
    'lets no node give itself labels of the cluster',
    {
      ...nodes,
      after: node(
        labels(
          'node-restriction.kubernetes.io/a',
          'x.node-restriction.kubernetes.io/b',
          'node-role.kubernetes.io/c',
          'x.k8s.io/d',
          'kubernetes.io/os',
          'node.kubernetes.io/e',
          'x.kubelet.kubernetes.io/f',
          'example.com/g',
        ),
      ),
    },
    'nodes "n1" is forbidden: node "n1" is not allowed to set the following labels: node-restriction.kubernetes.io/a, node-role.kubernetes.io/c, x.k8s.io/d, x.node-restriction.kubernetes.io/b',
  ],
  [
    'lets a node change labels of its own, keeping those of the cluster',
    {
      ...nodes,
      ...update,
      before: node(labels('k8s.io/a', 'b')),
      after: node(labels('k8s.io/a', 'c')),
    },
  ],
  [
    'lets no node take labels of the cluster off',
    { ...nodes, ...update, before: node(labels('k8s.io/a')), after: node() },
    'nodes "n1" is forbidden: is not allowed to modify labels: k8s.io/a',
  ],
  [
    'lets no node change its taints',
    {
      ...nodes,
      ...update,
      before: node({}, { taints: [{ key: 'a', effect: 'NoSchedule' }] }),
      after: node(),
    },
    'nodes "n1" is forbidden: node "n1" is not allowed to modify taints',
  ],
  [
    'lets no node change its owners',
    { ...nodes, ...update, before: node(), after: node({ ownerReferences: [own] }) },
    'nodes "n1" is forbidden: node "n1" is not allowed to modify ownerReferences',
  ],
  [
    'lets no node write the status of another',
    { ...nodes, ...update, subresource: 'status', before: node(), after: node({ name: 'n2' }) },
    'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"',
  ],
  [
    'lets no node delete another',
    { ...nodes, operation: 'delete', name: 'n2' },
    'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"',
  ],
  ['lets a node make mirror pods', { ...pods, after: mirror(), objects: [n1Object] }],
  [
    'lets a node make no other pods',
    { ...pods, after: pod('n1') },
    `pods "web" is forbidden: pod does not have "${mirrorAnnotation}" annotation, node "n1" can only create mirror pods`,
  ],
  [
    'lets a node make no pods of another node',
    { ...pods, after: mirror({}, { nodeName: 'n2' }) },
    'pods "web" is forbidden: node "n1" can only create pods with spec.nodeName set to itself',
  ],
  [
    'wants an owner of a mirror pod',
    { ...pods, after: mirror({ ownerReferences: [] }) },
    'pods "web" is forbidden: node "n1" can only create pods with an owner reference set to itself',
  ],
  [
    'wants one owner of a mirror pod',
    { ...pods, after: mirror({ ownerReferences: [own, { ...own, uid: 'x' }] }) },
    'pods "web" is forbidden: node "n1" can only create pods with a single owner reference set to itself',
  ],
  [
    'wants the owner of a mirror pod to control it',
    { ...pods, after: mirror({ ownerReferences: [{ ...own, controller: false }] }) },
    'pods "web" is forbidden: node "n1" can only create pods with a controller owner reference set to itself',
  ],
  [
    'lets no mirror pod keep its node',
    { ...pods, after: mirror({ ownerReferences: [{ ...own, blockOwnerDeletion: true }] }) },
    'pods "web" is forbidden: node "n1" must not set blockOwnerDeletion on an owner reference',
  ],
  [
    'wants the owner of a mirror pod to be this node',
    { ...pods, after: mirror(), objects: [node({ uid: 'u2' })] },
    'pods "web" is forbidden: node n1 UID mismatch: expected u1 got u2',
  ],
  ['wants the Node before its pods', { ...pods, after: mirror() }, 'nodes "n1" not found'],
  ...mirrorsOf({
    'a service account': { serviceAccountName: 'a' },
    secrets: { imagePullSecrets: [{ name: 's' }] },
    configmaps: { volumes: [{ name: 'v', configMap: { name: 'c' } }] },
    persistentvolumeclaims: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] },
    resourceclaims: { resourceClaims: [{ name: 'r', resourceClaimName: 'c' }] },
  }),
  ['lets a node delete pods bound to it', { ...pods, ...remove, objects: [pod('n1')] }],
  [
    'lets a node delete no others',
    { ...pods, ...remove, objects: [pod('n2')] },
    'pods "web" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself',
  ],
  ['does not find pods that are gone', { ...pods, ...remove }, 'pods "web" not found'],
  [
    'lets a node evict no others',
    {
      ...pods,
      subresource: 'eviction',
      after: object('Eviction', { name: 'web', namespace: 'default' }),
      objects: [pod('n2')],
    },
    'pods "web" is forbidden: node n1 can only evict pods with spec.nodeName set to itself',
  ],
  [
    'lets no node change a pod',
    { ...pods, ...update, before: pod('n1'), after: pod('n1') },
    'pods "web" is forbidden: unexpected operation "UPDATE", node "n1" can only create and delete mirror pods',
  ],
  [
    'lets no node bind a pod',
    {
      ...pods,
      subresource: 'binding',
      after: object('Binding', { name: 'web', namespace: 'default' }),
    },
    `pods "web" is forbidden: unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`,
  ],
  ['lets a node report about its pods', { ...status, before: pod('n1'), after: pod('n1') }],
  [
    'lets a node report about no others',
    { ...status, before: pod('n2'), after: pod('n1') },
    'pods "web" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself',
  ],
  [
    'lets a report change no labels',
    { ...status, before: pod('n1'), after: pod('n1', labels('a')) },
    'pods "web" is forbidden: node "n1" cannot update labels through pod status',
  ],
  [
    'lets a node keep its lease',
    { definition: leaseDefinition, after: lease('kube-node-lease', 'n1') },
  ],
  [
    'lets a node keep no other lease',
    { definition: leaseDefinition, after: lease('kube-node-lease', 'n2') },
    'leases.coordination.k8s.io "n2" is forbidden: can only access node lease with the same name as the requesting node',
  ],
  [
    'lets a node keep no lease elsewhere',
    { definition: leaseDefinition, after: lease('kube-system', 'n1') },
    'leases.coordination.k8s.io "n1" is forbidden: can only access leases in the "kube-node-lease" system namespace',
  ],
  ['gives tokens for pods that mount one', token(request(ref))],
  [
    'gives tokens for those that a pod names',
    token(request(ref, ['vault']), pod('n1', {}, tokenVolume('vault'))),
  ],
  [
    'gives no tokens for others',
    token(request(ref, ['vault'])),
    'serviceaccounts "sa" is forbidden: audience "vault" not found in pod spec volume, system:node:n1 is not authorized to request tokens for this audience',
  ],
  [
    'gives no tokens for several',
    token(request(ref, ['a', 'b'])),
    'serviceaccounts "sa" is forbidden: node may only request 0 or 1 audiences',
  ],
  [
    'gives no tokens that are bound to nothing',
    token(request()),
    'serviceaccounts "sa" is forbidden: node requested token not bound to a pod',
  ],
  [
    'gives no tokens that are bound to a secret',
    token(request({ ...ref, kind: 'Secret' })),
    'serviceaccounts "sa" is forbidden: node requested token not bound to a pod',
  ],
  [
    'gives no tokens for a name alone',
    token(request({ ...ref, uid: undefined })),
    'serviceaccounts "sa" is forbidden: node requested token with a pod binding without a uid',
  ],
  [
    'gives no tokens for a pod before this one',
    token(request({ ...ref, uid: 'p0' })),
    'serviceaccounts "sa" is forbidden: the UID in the bound object reference (p0) does not match the UID in record. The object might have been deleted and then recreated',
  ],
  [
    'gives no tokens for pods of other nodes',
    token(request(ref), pod('n2', {}, tokenVolume())),
    'serviceaccounts "sa" is forbidden: node requested token bound to a pod scheduled on a different node',
  ],
  ['has nothing to say about other kinds', { definition: serviceDefinition, after: node() }],
];

function mirrorsOf(specs: Readonly<Record<string, object>>): readonly Case[] {
  return Object.entries(specs).map(([what, spec]) => [
    `lets no mirror pod use ${what}`,
    { ...pods, after: mirror({}, spec), objects: [n1Object] },
    `pods "web" is forbidden: node "n1" can not create pods that reference ${what}`,
  ]);
}

for (const [title, write, refusal] of cases) {
  test(`NodeRestriction ${title}`, () => {
    assert.deepEqual(outcomeOf(nodeRestriction, { user: n1, ...write }), refusal ?? write.after);
  });
}

test('NodeRestriction restricts nodes only, by name and group', () => {
  const after = node({ name: 'n2' });
  const admit = (user: User): unknown => outcomeOf(nodeRestriction, { ...nodes, user, after });
  assert.equal(admit({ name: 'system:node:n1', groups: [] }), after);
  assert.equal(admit({ name: 'u', groups: ['system:nodes'] }), after);
  assert.equal(
    admit({ name: 'system:node:', groups: ['system:nodes'] }),
    'nodes "n2" is forbidden: could not determine node from user "system:node:"',
  );
});
