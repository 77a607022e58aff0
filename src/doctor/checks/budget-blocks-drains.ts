import type { PodDisruptionBudget } from '../../kinds/pod-disruption-budget/types.ts';
import { matchesSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import type { ServiceCheck } from '../check.ts';
import { objectName } from '../object-names.ts';
import type { Cluster } from '../subject.ts';

export const budgetBlocksDrains: ServiceCheck = {
  code: 'FL0907',
  severity: 'warning',
  title: 'A disruption budget never allows an eviction',
  scope: 'service',
  needs: ['services', 'pods', 'podDisruptionBudgets'],
  find({ cluster, namespace, pods }) {
    const budgets = cluster.once(budgetsByNamespace).get(namespace) ?? [];
    return budgets.flatMap((budget) => {
      const why = neverAllows(budget, cluster.isLive);
      if (why === undefined || !selectsAny(budget, pods())) return [];
      const { name } = budget.metadata;
      return [
        {
          message: `No pod behind the Service can be evicted: the disruption budget ${name} has ${why.field} ${why.value}${why.of}, so a drain of their nodes waits for ever`,
          evidence: [
            { object: objectName(budget), field: `spec.${why.field}`, value: String(why.value) },
          ],
          fix: {
            sentence: 'Let the budget do without one pod, and run at least one more than it needs',
          },
        },
      ];
    });
  },
};

function budgetsByNamespace({
  index,
}: Cluster): ReadonlyMap<string, readonly PodDisruptionBudget[]> {
  const found = new Map<string, PodDisruptionBudget[]>();
  for (const budget of index.snapshot.objects.podDisruptionBudgets) {
    const { namespace = '' } = budget.metadata;
    found.set(namespace, [...(found.get(namespace) ?? []), budget]);
  }
  return found;
}

type Why = {
  readonly field: 'minAvailable' | 'maxUnavailable';
  readonly value: number | string;
  readonly of: string;
};

/** Whatever the state of the pods: all that are expected must be available. */
function neverAllows({ spec, status }: PodDisruptionBudget, isLive: boolean): Why | undefined {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable === 0 || maxUnavailable === '0%')
    return { field: 'maxUnavailable', value: maxUnavailable, of: '' };
  if (minAvailable === '100%') return { field: 'minAvailable', value: minAvailable, of: '' };
  if (minAvailable === undefined || !isLive) return undefined;
  const { expectedPods, desiredHealthy } = status;
  return expectedPods > 0 && desiredHealthy >= expectedPods
    ? { field: 'minAvailable', value: minAvailable, of: ` of ${expectedPods}` }
    : undefined;
}

function selectsAny(
  { spec }: PodDisruptionBudget,
  pods: readonly { readonly metadata: { readonly labels?: Readonly<Record<string, string>> } }[],
): boolean {
  const selector = selectorFromLabelSelector(spec.selector);
  return pods.some(({ metadata }) => matchesSelector(selector, metadata.labels));
}
