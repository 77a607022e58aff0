// Validation of budgets, in upstream's order (pkg/apis/policy/validation).
import { validateConditions } from '../../meta/conditions.ts';
import { type FieldError, invalid, joined, notSupported } from '../../meta/field-error.ts';
import { validateLabelSelector } from '../../meta/labels.ts';
import { percent } from '../../meta/names.ts';
import { type IntOrString, isPercent } from '../../schema/int-or-string.ts';
import { invalidEach, validateNotNegative } from '../pod/field-rules.ts';
import type { PodDisruptionBudget, PodDisruptionBudgetSpec } from './types.ts';

export function validateBudget({ spec }: PodDisruptionBudget): readonly FieldError[] {
  const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy: policy } = spec;
  return joined([
    minAvailable !== undefined && maxUnavailable !== undefined
      ? [invalid('spec', goForm(spec), 'minAvailable and maxUnavailable cannot be both set')]
      : [],
    validateShare(minAvailable, 'spec.minAvailable'),
    validateShare(maxUnavailable, 'spec.maxUnavailable'),
    policy === undefined || policies.includes(policy)
      ? []
      : [notSupported('spec.unhealthyPodEvictionPolicy', policy, policies)],
    validateLabelSelector(spec.selector, 'spec.selector'),
  ]);
}

const policies: readonly string[] = ['AlwaysAllow', 'IfHealthyBudget'];

/** With Go's names of fields, as the message shows it. */
const goForm = (spec: PodDisruptionBudgetSpec): object => ({
  MinAvailable: spec.minAvailable ?? null,
  Selector: spec.selector ?? null,
  MaxUnavailable: spec.maxUnavailable ?? null,
  UnhealthyPodEvictionPolicy: spec.unhealthyPodEvictionPolicy ?? null,
});

function validateShare(share: IntOrString | undefined, field: string): readonly FieldError[] {
  if (share === undefined) return [];
  if (typeof share === 'number') return validateNotNegative(field, share);
  const wrong = invalidEach(field, share, percent(share));
  const isTooMuch = isPercent(share) && Number.parseInt(share, 10) > 100;
  return isTooMuch ? [...wrong, invalid(field, share, 'must not be greater than 100%')] : wrong;
}

const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const;

export function validateBudgetStatus({ status }: PodDisruptionBudget): readonly FieldError[] {
  return joined([
    validateConditions(status.conditions, 'status.conditions'),
    ...counts.map((name) => validateNotNegative(`status.${name}`, status[name])),
  ]);
}
