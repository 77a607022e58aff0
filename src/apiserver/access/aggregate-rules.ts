// Aggregated cluster roles, which have the rules of others by label, as `admin`, `edit` and `view` do.
import type { ClusterRole } from '../../kinds/cluster-role/types.ts';
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { matchesSelector, selectorFromLabelSelector } from '../../meta/labels.ts';

/**
 * The rules of a cluster role. One that gathers has exactly those of the roles it selects, in the order of their
 * names and without repeats; a selected role may itself gather. Each role counts once, however many ways lead to it:
 * following every way would take the factorial of the number of roles that gather each other.
 */
export function aggregateRules(
  role: ClusterRole,
  all: readonly ClusterRole[],
): readonly PolicyRule[] {
  if (role.aggregationRule === undefined) return role.rules ?? [];
  const byName = [...all].sort(compareNames);
  const gathered = new Map<string, PolicyRule>();
  const visited = new Set<string>();
  // A stack of its own: a chain of thousands of roles must not end the one of the calls.
  const stack = [[role].values()];
  for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
    const { done, value: next } = level.next();
    if (done) stack.pop();
    else if (!visited.has(next.metadata.name ?? '')) {
      visited.add(next.metadata.name ?? '');
      if (next.aggregationRule === undefined) gather(next.rules ?? [], gathered);
      else stack.push(selectedRoles(next, byName).values());
    }
  }
  return [...gathered.values()];
}

function gather(rules: readonly PolicyRule[], gathered: Map<string, PolicyRule>): void {
  for (const rule of rules) {
    const text = textOf(rule);
    if (!gathered.has(text)) gathered.set(text, rule);
  }
}

/** Equal for equal rules; an empty list is an absent one. */
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

function selectedRoles(
  { aggregationRule }: ClusterRole,
  byName: readonly ClusterRole[],
): readonly ClusterRole[] {
  return (aggregationRule?.clusterRoleSelectors ?? [])
    .map(selectorFromLabelSelector)
    .flatMap((selector) =>
      byName.filter(({ metadata }) => matchesSelector(selector, metadata.labels)),
    );
}

function compareNames(a: ClusterRole, b: ClusterRole): number {
  const [left, right] = [a.metadata.name ?? '', b.metadata.name ?? ''];
  return left < right ? -1 : left > right ? 1 : 0;
}
