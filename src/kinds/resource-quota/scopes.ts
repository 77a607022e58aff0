// Which objects a quota with scopes counts. Upstream: pkg/quota/v1/evaluator/core.
import { matchesSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import type { PersistentVolumeClaim } from '../persistent-volume-claim/types.ts';
import type { PodAffinity } from '../pod/affinity.ts';
import { qualityOfService } from '../pod/quality-of-service.ts';
import type { Pod } from '../pod/types.ts';
import type { ResourceQuotaSpec, ScopeRequirement } from './types.ts';

export function scopesOf({ scopes = [], scopeSelector }: ResourceQuotaSpec) {
  const plain = scopes.map((scopeName): ScopeRequirement => ({ scopeName, operator: 'Exists' }));
  return [...plain, ...(scopeSelector?.matchExpressions ?? [])];
}

export function podIsInScope(requirement: ScopeRequirement, { spec }: Pod): boolean {
  const deadline = spec.activeDeadlineSeconds;
  switch (requirement.scopeName) {
    case 'Terminating':
      return deadline !== undefined;
    case 'NotTerminating':
      return deadline === undefined;
    case 'BestEffort':
      return qualityOfService(spec) === 'BestEffort';
    case 'NotBestEffort':
      return qualityOfService(spec) !== 'BestEffort';
    case 'PriorityClass':
      return matchesValues(requirement, spec.priorityClassName ? [spec.priorityClassName] : []);
    case 'CrossNamespacePodAffinity':
      return [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity].some(crossesNamespaces);
    default:
      return false;
  }
}

export function claimIsInScope(
  requirement: ScopeRequirement,
  { spec, status }: PersistentVolumeClaim,
): boolean {
  if (requirement.scopeName !== 'VolumeAttributesClass') return false;
  const classes = [
    spec.volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    status.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return matchesValues(
    requirement,
    classes.filter((name): name is string => Boolean(name)),
  );
}

/** Any of the values; none at all is as a missing label. */
function matchesValues(
  { scopeName, operator, values }: ScopeRequirement,
  present: readonly string[],
): boolean {
  const expression = { key: scopeName, operator, ...(values === undefined ? {} : { values }) };
  const selector = selectorFromLabelSelector({
    matchExpressions: [expression as typeof expression & { readonly operator: 'In' }],
  });
  return present.length === 0
    ? matchesSelector(selector, {})
    : present.some((value) => matchesSelector(selector, { [scopeName]: value }));
}

function crossesNamespaces(affinity: PodAffinity | undefined): boolean {
  const required = affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const preferred = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [...required, ...preferred.map(({ podAffinityTerm }) => podAffinityTerm)].some(
    ({ namespaces = [], namespaceSelector }) =>
      namespaces.length > 0 || namespaceSelector !== undefined,
  );
}
