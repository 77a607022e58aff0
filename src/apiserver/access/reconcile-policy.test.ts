import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import { reconcilePolicy } from './reconcile-policy.ts';
import { aggregatedRole, clusterRole, clusterRoleBinding, group, user } from './role-objects.ts';

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

test('reconcilePolicy() returns a role with all rules unchanged', () => {
  for (const rules of [
    [pods, nodes],
    [nodes, own, pods],
    [{ ...pods, verbs: ['*'] }, nodes],
  ]) {
    const live = clusterRole('r', rules);
    assert.equal(reconcilePolicy(live, wanted), live);
  }
});

test('reconcilePolicy() restores missing rules and keeps added ones', () => {
  const live = clusterRole('r', [own, { ...pods, verbs: ['get'] }]);
  assert.deepEqual(reconcilePolicy(live, wanted), {
    ...live,
    rules: [own, { ...pods, verbs: ['get'] }, pods, nodes],
  });
});

test('reconcilePolicy() does not update a role with autoupdate "false"', () => {
  const live = annotated(clusterRole('r', []), 'false');
  assert.equal(reconcilePolicy(live, wanted), live);
});

test('reconcilePolicy() restores labels and annotations and keeps changed values', () => {
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

test('reconcilePolicy() restores the selector of an aggregated role and keeps its rules', () => {
  const gathering = aggregatedRole('g', 'label');
  const shown = { ...gathering, rules: [own] };
  const gathered = { ...gathering, rules: [pods] };
  assert.equal(reconcilePolicy(shown, gathered), shown);
  const stripped = { ...shown, aggregationRule: { clusterRoleSelectors: [] } };
  assert.deepEqual(reconcilePolicy(stripped, gathering), shown);
});

test('reconcilePolicy() restores missing subjects', () => {
  const full = clusterRoleBinding('b', 'r', [user('a'), group('g')]);
  const live = clusterRoleBinding('b', 'r', [user('mine'), group('g')]);
  assert.deepEqual(reconcilePolicy(live, full), {
    ...live,
    subjects: [user('mine'), group('g'), user('a')],
  });
  assert.equal(reconcilePolicy(full, full), full);
});
