import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { percent } from '../../meta/names.ts';
import { type IntOrString, isPercent } from '../../schema/int-or-string.ts';
import { immutableField } from '../immutable-field.ts';
import { invalidEach, validateNotNegative } from '../pod/field-rules.ts';
import { validateAtMost, validateSelected } from '../replica-set/validate.ts';
import type { Deployment, DeploymentSpec, DeploymentStrategy, RollingUpdate } from './types.ts';

export function validateDeployment({ spec }: Deployment): readonly FieldError[] {
  return [
    ...validateNotNegative('spec.replicas', spec.replicas),
    ...validateSelected(spec),
    ...validateStrategy(spec.strategy, 'spec.strategy'),
    ...validateNotNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...validateNotNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit),
    ...validateProgressDeadline(spec),
  ];
}

export function validateDeploymentUpdate(
  before: Deployment,
  after: Deployment,
): readonly FieldError[] {
  return [
    ...validateDeployment(after),
    ...immutableField({
      field: 'spec.selector',
      before: before.spec.selector,
      after: after.spec.selector,
    }),
  ];
}

export function validateDeploymentStatusUpdate(
  before: Deployment,
  after: Deployment,
): readonly FieldError[] {
  const { replicas = 0, readyReplicas = 0, availableReplicas = 0 } = after.status;
  const { updatedReplicas = 0, collisionCount } = after.status;
  return [
    ...validateNotNegative('status.observedGeneration', after.status.observedGeneration),
    ...validateNotNegative('status.replicas', replicas),
    ...validateNotNegative('status.updatedReplicas', updatedReplicas),
    ...validateNotNegative('status.readyReplicas', readyReplicas),
    ...validateNotNegative('status.availableReplicas', availableReplicas),
    ...validateNotNegative('status.unavailableReplicas', after.status.unavailableReplicas),
    ...validateNotNegative('status.terminatingReplicas', after.status.terminatingReplicas),
    ...validateNotNegative('status.collisionCount', collisionCount),
    ...validateAtMost('updatedReplicas', updatedReplicas, replicas, 'status.replicas'),
    ...validateAtMost('readyReplicas', readyReplicas, replicas, 'status.replicas'),
    ...validateAtMost('availableReplicas', availableReplicas, replicas, 'status.replicas'),
    ...validateAtMost('availableReplicas', availableReplicas, readyReplicas, 'readyReplicas'),
    ...((collisionCount ?? 0) < (before.status.collisionCount ?? 0)
      ? [invalid('status.collisionCount', collisionCount, 'cannot be decremented')]
      : []),
  ];
}

function validateProgressDeadline(spec: DeploymentSpec): readonly FieldError[] {
  const field = 'spec.progressDeadlineSeconds';
  const seconds = spec.progressDeadlineSeconds;
  if (seconds === undefined) return [];
  return [
    ...validateNotNegative(field, seconds),
    ...(seconds <= (spec.minReadySeconds ?? 0)
      ? [invalid(field, seconds, 'must be greater than minReadySeconds')]
      : []),
  ];
}

function validateStrategy(strategy: DeploymentStrategy, field: string): readonly FieldError[] {
  const { type, rollingUpdate } = strategy;
  const at = `${field}.rollingUpdate`;
  switch (type) {
    case 'Recreate':
      return rollingUpdate === undefined
        ? []
        : [forbidden(at, "may not be specified when strategy `type` is 'Recreate'")];
    case 'RollingUpdate':
      return rollingUpdate === undefined
        ? [required(at, 'this should be defaulted and never be nil')]
        : validateRollingUpdate(rollingUpdate, at);
    default:
      return [notSupported(`${field}.type`, type, ['Recreate', 'RollingUpdate'])];
  }
}

function validateRollingUpdate(
  { maxUnavailable = 0, maxSurge = 0 }: RollingUpdate,
  field: string,
): readonly FieldError[] {
  const stuck = quantity(maxUnavailable) === 0 && quantity(maxSurge) === 0;
  const tooMuch = typeof maxUnavailable === 'string' && quantity(maxUnavailable) > 100;
  return [
    ...validateShare(maxUnavailable, `${field}.maxUnavailable`),
    ...validateShare(maxSurge, `${field}.maxSurge`),
    ...(stuck
      ? [invalid(`${field}.maxUnavailable`, maxUnavailable, 'may not be 0 when `maxSurge` is 0')]
      : []),
    ...(tooMuch
      ? [invalid(`${field}.maxUnavailable`, maxUnavailable, 'must not be greater than 100%')]
      : []),
  ];
}

function validateShare(share: IntOrString, field: string): readonly FieldError[] {
  return typeof share === 'number'
    ? validateNotNegative(field, share)
    : invalidEach(field, share, percent(share));
}

/** The number of pods, or of percent. */
function quantity(share: IntOrString): number {
  if (typeof share === 'number') return share;
  return isPercent(share) ? Number.parseInt(share, 10) : 0;
}
