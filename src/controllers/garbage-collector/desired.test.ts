import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectMeta, OwnerReference } from '../../meta/object.ts';
import {
  type DeletionDecision,
  type DependentDecision,
  decideDeletion,
  decideDependent,
  knownState,
  type OwnerState,
} from './desired.ts';
import { createGraph, type GraphNode } from './graph.ts';

const configMaps = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
const nodes = { ...configMaps, kind: 'Node', plural: 'nodes', namespaced: false };
const deletionTimestamp = '2026-01-01T00:00:00Z';

const owner = (uid: string, blockOwnerDeletion = false): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: uid,
  uid,
  blockOwnerDeletion,
});
const node = (uid: string, metadata: ObjectMeta = {}): GraphNode => ({
  resource: configMaps,
  uid,
  object: {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: uid, namespace: 'a', uid, ...metadata },
  },
});
const foreground = { deletionTimestamp, finalizers: ['foregroundDeletion'] };

const blocking = node('child', { ownerReferences: [owner('o', true)] });
const loose = node('loose', { ownerReferences: [owner('o')] });
const going = node('going', { ownerReferences: [owner('o', true)], deletionTimestamp });

const deletions: readonly {
  name: string;
  metadata: ObjectMeta;
  dependents?: readonly GraphNode[];
  wanted: DeletionDecision;
}[] = [
  {
    name: 'leaves an object that is not deleted alone',
    metadata: { finalizers: ['orphan'] },
    wanted: { action: 'none' },
  },
  {
    name: 'ignores other finalizers',
    metadata: { deletionTimestamp, finalizers: ['example.com/x'] },
    wanted: { action: 'none' },
  },
  {
    name: 'orphans the dependents',
    metadata: { deletionTimestamp, finalizers: ['orphan'] },
    dependents: [loose],
    wanted: { action: 'orphan', dependents: [loose] },
  },
  {
    name: 'finishes a foreground delete without dependents',
    metadata: foreground,
    wanted: { action: 'finish' },
  },
  {
    name: 'finishes a foreground delete when no dependent blocks it',
    metadata: foreground,
    dependents: [loose],
    wanted: { action: 'finish' },
  },
  {
    name: 'deletes all dependents while one blocks, except those being deleted',
    metadata: foreground,
    dependents: [blocking, loose, going],
    wanted: { action: 'cascade', dependents: [blocking, loose] },
  },
];
for (const { name, metadata, dependents = [], wanted } of deletions) {
  test(`decideDeletion() ${name}`, () => {
    assert.deepEqual(decideDeletion(node('o', metadata), dependents), wanted);
  });
}

const dependents: readonly {
  name: string;
  metadata?: ObjectMeta;
  states: readonly OwnerState[];
  dependents?: readonly GraphNode[];
  wanted: DependentDecision;
}[] = [
  { name: 'keeps an object without owners', states: [], wanted: { action: 'none' } },
  {
    name: 'keeps an object whose owners exist',
    states: ['present', 'present'],
    wanted: { action: 'none' },
  },
  {
    name: 'drops references to absent and waiting owners when another owner exists',
    states: ['absent', 'present', 'waiting'],
    wanted: { action: 'release', ownerReferences: [owner('o1', true)] },
  },
  {
    name: 'deletes an object whose owners are all absent',
    states: ['absent', 'absent'],
    wanted: { action: 'delete', policy: 'Background' },
  },
  {
    name: 'leaves an object that is being deleted',
    metadata: { deletionTimestamp },
    states: ['absent'],
    wanted: { action: 'none' },
  },
  {
    name: 'deletes with the policy of its finalizers',
    metadata: { finalizers: ['orphan'] },
    states: ['absent'],
    wanted: { action: 'delete', policy: 'Orphan' },
  },
  {
    name: 'deletes in the background for a waiting owner when it has no dependents',
    states: ['waiting'],
    wanted: { action: 'delete', policy: 'Background' },
  },
  {
    name: 'deletes in the foreground for a waiting owner when it has dependents',
    states: ['waiting'],
    dependents: [loose],
    wanted: { action: 'delete', policy: 'Foreground' },
  },
  {
    name: 'stops blocking when owners wait for each other in a cycle',
    states: ['waiting'],
    dependents: [node('o0', foreground)],
    wanted: { action: 'delete', policy: 'Foreground', ownerReferences: [owner('o0', false)] },
  },
];
for (const { name, metadata = {}, states, dependents: own = [], wanted } of dependents) {
  test(`decideDependent() ${name}`, () => {
    const ownerReferences = states.map((_state, index) => owner(`o${index}`, true));
    const { object } = node('x', { ...metadata, ownerReferences });
    const stateOf = ({ uid }: OwnerReference): OwnerState =>
      states[Number(uid.slice(1))] ?? 'present';
    assert.deepEqual(decideDependent(object, stateOf, own), wanted);
  });
}

const ownerCases: readonly {
  name: string;
  found: GraphNode | undefined;
  wanted: OwnerState | undefined;
}[] = [
  { name: 'an unknown owner', found: undefined, wanted: undefined },
  { name: 'an owner in the same namespace', found: node('o'), wanted: 'present' },
  { name: 'an owner that waits', found: node('o', foreground), wanted: 'waiting' },
  {
    name: 'an owner in another namespace',
    found: node('o', { namespace: 'b' }),
    wanted: undefined,
  },
  { name: 'an owner of another name', found: node('o', { name: 'p' }), wanted: undefined },
  {
    name: 'an owner without a namespace',
    found: {
      ...node('o'),
      resource: nodes,
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'o' } },
    },
    wanted: 'present',
  },
];
for (const { name, found, wanted } of ownerCases) {
  test(`knownState() of ${name}`, () => {
    assert.equal(knownState(node('x'), owner('o'), found), wanted);
  });
}

test('createGraph() updates dependents when owners change', () => {
  const graph = createGraph();
  graph.put(node('x', { ownerReferences: [owner('a'), owner('b')] }));
  graph.put(node('y', { ownerReferences: [owner('a')] }));
  const uids = (uid: string): readonly string[] =>
    graph.dependentsOf(uid).map((dependent) => dependent.uid);
  assert.deepEqual(uids('a'), ['x', 'y']);
  graph.put(node('x', { ownerReferences: [owner('b')] }));
  assert.deepEqual(uids('a'), ['y']);
  assert.deepEqual(uids('b'), ['x']);
  graph.remove('x');
  assert.deepEqual(uids('b'), []);
});
