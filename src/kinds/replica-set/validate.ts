import { type FieldError, invalid, required } from '../../meta/field-error.ts';
import { selectorFromLabelSelector, validateLabelSelector } from '../../meta/labels.ts';
import { immutableField } from '../immutable-field.ts';
import { validateNotNegative } from '../pod/field-rules.ts';
import { isEmptySelector } from '../pod-template/selector.ts';
import { validateOwnedTemplate } from '../pod-template/validate.ts';
import type { ReplicaSet, ReplicaSetStatus } from './types.ts';

export function validateReplicaSet({ spec }: ReplicaSet): readonly FieldError[] {
  return [
    ...validateNotNegative('spec.replicas', spec.replicas),
    ...validateNotNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...validateSelected(spec),
  ];
}

export function validateReplicaSetUpdate(
  before: ReplicaSet,
  after: ReplicaSet,
): readonly FieldError[] {
  return [
    ...validateReplicaSet(after),
    ...immutableField({
      field: 'spec.selector',
      before: before.spec.selector,
      after: after.spec.selector,
    }),
  ];
}

/** The selector must not be empty and must match the template's labels. */
export function validateSelected({
  selector,
  template,
}: Pick<ReplicaSet['spec'], 'selector' | 'template'>): readonly FieldError[] {
  const field = 'spec.selector';
  const wrong = validateLabelSelector(selector, field);
  return [
    ...(selector === undefined ? [required(field)] : []),
    ...wrong,
    ...(isEmptySelector(selector)
      ? [invalid(field, selector, 'empty selector is invalid for deployment')]
      : []),
    ...(wrong.length > 0
      ? [invalid(field, selector, 'invalid label selector')]
      : validateOwnedTemplate(
          template,
          { kind: 'ReplicaSet', selector: selectorFromLabelSelector(selector) },
          'spec.template',
        )),
  ];
}

type Counts = Pick<
  ReplicaSetStatus,
  'replicas' | 'fullyLabeledReplicas' | 'readyReplicas' | 'availableReplicas' | 'observedGeneration'
> & { readonly terminatingReplicas?: number };

/** Consistency of the replica counts in a status; also for replication controllers. */
export function validateCounts(status: Counts): readonly FieldError[] {
  const { replicas, readyReplicas = 0, availableReplicas = 0, fullyLabeledReplicas = 0 } = status;
  return [
    ...validateNotNegative('status.replicas', replicas),
    ...validateNotNegative('status.fullyLabeledReplicas', fullyLabeledReplicas),
    ...validateNotNegative('status.readyReplicas', readyReplicas),
    ...validateNotNegative('status.availableReplicas', availableReplicas),
    ...validateNotNegative('status.terminatingReplicas', status.terminatingReplicas),
    ...validateNotNegative('status.observedGeneration', status.observedGeneration),
    ...validateAtMost('fullyLabeledReplicas', fullyLabeledReplicas, replicas, 'status.replicas'),
    ...validateAtMost('readyReplicas', readyReplicas, replicas, 'status.replicas'),
    ...validateAtMost('availableReplicas', availableReplicas, replicas, 'status.replicas'),
    ...validateAtMost('availableReplicas', availableReplicas, readyReplicas, 'readyReplicas'),
  ];
}

export function validateAtMost(
  name: string,
  count: number,
  limit: number,
  limitName: string,
): readonly FieldError[] {
  return count > limit
    ? [invalid(`status.${name}`, count, `cannot be greater than ${limitName}`)]
    : [];
}
