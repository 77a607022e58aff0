// Cluster roles that gather the rules of others by label, as `admin`, `edit` and `view` do.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { matchesSelector, selectorFromLabelSelector } from '../../meta/labels.ts';

/**
 * The rules of a cluster role. One that gathers has exactly those of the roles it selects, in the order of their
 * names and without repeats; a selected role may itself gather.
 */
export function aggregateRules(
  role: ClusterRole,
  all: readonly ClusterRole[],
): readonly PolicyRule[] {
  return rulesOf(role, all, new Set());
}

function rulesOf(
  role: ClusterRole,
  all: readonly ClusterRole[],
  onTheWay: ReadonlySet<string>,
): readonly PolicyRule[] {
  if (role.aggregationRule === undefined) return role.rules ?? [];
  const name = role.metadata.name ?? '';
  const passed = new Set([...onTheWay, name]);
  const gathered = new Map<string, PolicyRule>();
  for (const selected of selectedRoles(role, all, passed)) {
    for (const rule of rulesOf(selected, all, passed)) {
      const text = textOf(rule);
      if (!gathered.has(text)) gathered.set(text, rule);
    }
  }
  return [...gathered.values()];
}

/** The same for rules that say the same; an empty list is an absent one. */
function textOf({
  verbs,
  apiGroups,
  resources,
  resourceNames,
  nonResourceURLs,
}: PolicyRule): string {
  const lists = [verbs, apiGroups, resources, resourceNames, nonResourceURLs];
  return JSON.stringify(lists.map((list) => list ?? []));
}

/** Roles on the way here are left out: each of them already adds its rules. */
function selectedRoles(
  { aggregationRule }: ClusterRole,
  all: readonly ClusterRole[],
  passed: ReadonlySet<string>,
): readonly ClusterRole[] {
  const byName = [...all].sort(compareNames);
  return (aggregationRule?.clusterRoleSelectors ?? [])
    .map(selectorFromLabelSelector)
    .flatMap((selector) =>
      byName.filter(
        ({ metadata }) =>
          !passed.has(metadata.name ?? '') && matchesSelector(selector, metadata.labels),
      ),
    );
}

function compareNames(a: ClusterRole, b: ClusterRole): number {
  const [left, right] = [a.metadata.name ?? '', b.metadata.name ?? ''];
  return left < right ? -1 : left > right ? 1 : 0;
}
