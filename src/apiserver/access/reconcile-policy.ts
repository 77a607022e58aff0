// Reconciles a default role or binding at start: restores what is missing, and keeps what was added. Kubernetes:
// pkg/registry/rbac/rest and component-helpers/auth/rbac/reconciliation.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import type { PolicyRule, Subject } from '../../kinds/rbac/types.ts';
import type { KubeObject } from '../../meta/object.ts';
import { autoUpdateAnnotation } from '../../meta/well-known-annotations.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { Binding } from './grant-index.ts';
import { missingRules } from './missing-rules.ts';

/** Returns the same object when nothing is missing, or when it must not be updated. */
export function reconcilePolicy(live: KubeObject, wanted: KubeObject): KubeObject {
  if (live.metadata.annotations?.[autoUpdateAnnotation] === 'false') return live;
  const marked = withMarks(live, wanted);
  return 'roleRef' in wanted
    ? withSubjects(marked as Binding, wanted as Binding)
    : withRules(marked as ClusterRole, wanted as ClusterRole);
}

/** Adds labels and annotations of the default; existing values stay. */
function withMarks(live: KubeObject, wanted: KubeObject): KubeObject {
  const labels = { ...wanted.metadata.labels, ...live.metadata.labels };
  const annotations = { ...wanted.metadata.annotations, ...live.metadata.annotations };
  const hasAll =
    deepEqual(labels, live.metadata.labels ?? {}) &&
    deepEqual(annotations, live.metadata.annotations ?? {});
  return hasAll ? live : { ...live, metadata: { ...live.metadata, labels, annotations } };
}

/** The rules of an aggregated role follow from its selectors, so only these are reconciled. */
function withRules(live: ClusterRole, wanted: ClusterRole): ClusterRole {
  if (wanted.aggregationRule !== undefined) return withSelectors(live, wanted);
  const owned = live.rules ?? [];
  const missing = (wanted.rules ?? []).filter(
    // Without a limit of steps: the default rules are small, so that this is fast whatever the live role contains.
    (rule: PolicyRule) => missingRules(owned, [rule], Infinity).parts.length > 0,
  );
  return missing.length === 0 ? live : { ...live, rules: [...owned, ...missing] };
}

function withSelectors(live: ClusterRole, wanted: ClusterRole): ClusterRole {
  const owned = live.aggregationRule?.clusterRoleSelectors ?? [];
  const missing = (wanted.aggregationRule?.clusterRoleSelectors ?? []).filter(
    (selector) => !owned.some((one) => deepEqual(one, selector)),
  );
  if (missing.length === 0) return live;
  return { ...live, aggregationRule: { clusterRoleSelectors: [...owned, ...missing] } };
}

function withSubjects(live: Binding, wanted: Binding): Binding {
  const owned = live.subjects ?? [];
  const missing = (wanted.subjects ?? []).filter(
    (subject) => !owned.some((one) => isSame(one, subject)),
  );
  return missing.length === 0 ? live : { ...live, subjects: [...owned, ...missing] };
}

function isSame(a: Subject, b: Subject): boolean {
  return a.kind === b.kind && a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '');
}
