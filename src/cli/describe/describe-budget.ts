// Describes PodDisruptionBudgets. Pure. The fields are kubectl's, and the reason where nothing can be calculated.
import type { PodDisruptionBudget } from '../../kinds/pod-disruption-budget/types.ts';
import { formatSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import { type Field, heading, line } from './describe-text.ts';

export function describeBudget({ metadata, spec, status }: PodDisruptionBudget): readonly Field[] {
  const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy: policy, selector } = spec;
  const failed = status.conditions?.find(({ reason }) => reason === 'SyncFailed');
  return [
    ...heading(metadata),
    ...(minAvailable === undefined ? [] : [line('Min available', String(minAvailable))]),
    ...(maxUnavailable === undefined ? [] : [line('Max unavailable', String(maxUnavailable))]),
    ...(policy === undefined ? [] : [line('Unhealthy pod eviction policy', policy)]),
    line(
      'Selector',
      selector === undefined ? '<unset>' : formatSelector(selectorFromLabelSelector(selector)),
    ),
    {
      label: 'Status',
      fields: [
        line('Allowed disruptions', String(status.disruptionsAllowed)),
        line('Current', String(status.currentHealthy)),
        line('Desired', String(status.desiredHealthy)),
        line('Total', String(status.expectedPods)),
        ...(failed === undefined ? [] : [line('Not calculated', failed.message)]),
      ],
    },
  ];
}
