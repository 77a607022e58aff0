import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import { reconcilePolicy } from './reconcile-policy.ts';
import { clusterRole, clusterRoleBinding, gatheringRole, group, user } from './role-objects.ts';

const pods: PolicyRule = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };
const nodes: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['nodes'] };
const own: PolicyRule = { verbs: ['*'], apiGroups: ['own'], resources: ['*'] };
const wanted = clusterRole('r', [pods, nodes]);

const annotated = (object: KubeObject, value: string): KubeObject => ({
  ...object,
  metadata: {
    ...object.metadata,
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': value },
  },
});

test('a role that has everything, and perhaps more, stays as it is', () => {
  for (const rules of [
    [pods, nodes],
    [nodes, own, pods],
    [{ ...pods, verbs: ['*'] }, nodes],
  ]) {
    const live = clusterRole('r', rules);
    assert.equal(reconcilePolicy(live, wanted), live);
  }
});

test('rules that are missing come back, and those that were added stay', () => {
  const live = clusterRole('r', [own, { ...pods, verbs: ['get'] }]);
  assert.deepEqual(reconcilePolicy(live, wanted), {
    ...live,
    rules: [own, { ...pods, verbs: ['get'] }, pods, nodes],
  });
});

test('a role that is not to be updated is not', () => {
  const live = annotated(clusterRole('r', []), 'false');
  assert.equal(reconcilePolicy(live, wanted), live);
});

test('labels and annotations come back, and values that were changed stay', () => {
  const live = { ...wanted, metadata: { name: 'r', labels: { a: 'b' } } };
  const { metadata } = reconcilePolicy(live, wanted);
  assert.deepEqual(metadata, {
    name: 'r',
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', a: 'b' },
    annotations: wanted.metadata.annotations,
  });
  const other = annotated(wanted, 'no');
  assert.equal(reconcilePolicy(other, wanted), other);
});

test('a role that gathers gets its selector back, and keeps the rules that it shows', () => {
  const gathering = gatheringRole('g', 'label');
  const shown = { ...gathering, rules: [own] };
  const gathered = { ...gathering, rules: [pods] };
  assert.equal(reconcilePolicy(shown, gathered), shown);
  const stripped = { ...shown, aggregationRule: { clusterRoleSelectors: [] } };
  assert.deepEqual(reconcilePolicy(stripped, gathering), shown);
});

test('subjects that are missing come back', () => {
  const full = clusterRoleBinding('b', 'r', [user('a'), group('g')]);
  const live = clusterRoleBinding('b', 'r', [user('mine'), group('g')]);
  assert.deepEqual(reconcilePolicy(live, full), {
    ...live,
    subjects: [user('mine'), group('g'), user('a')],
  });
  assert.equal(reconcilePolicy(full, full), full);
});
