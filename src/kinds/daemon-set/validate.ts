import { type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import { selectorFromLabelSelector, validateLabelSelector } from '../../meta/labels.ts';
import { percent } from '../../meta/names.ts';
import { type IntOrString, isPercent } from '../../schema/int-or-string.ts';
import { immutableField } from '../immutable-field.ts';
import { invalidEach, validateNotNegative } from '../pod/field-rules.ts';
import { isEmptySelector } from '../pod-template/selector.ts';
import { validateOwnedTemplate } from '../pod-template/validate.ts';
import type { DaemonSet, DaemonSetStatus, DaemonSetUpdateStrategy } from './types.ts';

export function validateDaemonSet({ spec }: DaemonSet): readonly FieldError[] {
  const { selector, template } = spec;
  const wrongSelector = validateLabelSelector(selector, 'spec.selector');
  return [
    ...wrongSelector,
    ...(isEmptySelector(selector)
      ? [invalid('spec.selector', selector, 'empty selector is invalid for daemonset')]
      : []),
    ...validateOwnedTemplate(
      template,
      {
        kind: 'DaemonSet',
        ...(wrongSelector.length > 0 ? {} : { selector: selectorFromLabelSelector(selector) }),
      },
      'spec.template',
    ),
    ...validateNotNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...validateStrategy(spec.updateStrategy, 'spec.updateStrategy'),
    ...validateNotNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit),
  ];
}

export function validateDaemonSetUpdate(
  before: DaemonSet,
  after: DaemonSet,
): readonly FieldError[] {
  return [
    ...immutableField({
      field: 'spec.selector',
      before: before.spec.selector ?? null,
      after: after.spec.selector ?? null,
    }),
    ...validateDaemonSet(after),
  ];
}

export function validateDaemonSetStatusUpdate(
  before: DaemonSet,
  after: DaemonSet,
): readonly FieldError[] {
  const { collisionCount } = after.status;
  return [
    ...counts.flatMap((name) => validateNotNegative(`status.${name}`, after.status[name])),
    ...(collisionCount !== undefined && collisionCount < (before.status.collisionCount ?? 0)
      ? [invalid('status.collisionCount', collisionCount, 'cannot be decremented')]
      : []),
  ];
}

const counts = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
  'collisionCount',
] as const satisfies readonly (keyof DaemonSetStatus)[];

function validateStrategy(strategy: DaemonSetUpdateStrategy, field: string): readonly FieldError[] {
  const { type = '', rollingUpdate } = strategy;
  switch (type) {
    case 'OnDelete':
      return [];
    case 'RollingUpdate': {
      const at = `${field}.rollingUpdate`;
      if (rollingUpdate === undefined) return [required(at)];
      const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate;
      return [
        ...validateShare(maxUnavailable, `${at}.maxUnavailable`),
        ...validateShare(maxSurge, `${at}.maxSurge`),
        ...validateAtMostAll(maxUnavailable, `${at}.maxUnavailable`),
        ...validateAtMostAll(maxSurge, `${at}.maxSurge`),
        ...validateOneOf(maxUnavailable, maxSurge, at),
      ];
    }
    default:
      return [
        notSupported(field, { Type: type, RollingUpdate: rollingUpdate ?? null }, [
          'RollingUpdate',
          'OnDelete',
        ]),
      ];
  }
}

/** Either a node is without a pod during an update or it has two: not both, and not neither. */
function validateOneOf(
  maxUnavailable: IntOrString,
  maxSurge: IntOrString,
  field: string,
): readonly FieldError[] {
  const hasUnavailable = quantity(maxUnavailable) !== 0;
  const hasSurge = quantity(maxSurge) !== 0;
  if (hasUnavailable && hasSurge) {
    const detail = 'may not be set when maxUnavailable is non-zero';
    return [invalid(`${field}.maxSurge`, maxSurge, detail)];
  }
  return hasUnavailable || hasSurge
    ? []
    : [required(`${field}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')];
}

function validateShare(share: IntOrString, field: string): readonly FieldError[] {
  return typeof share === 'number'
    ? validateNotNegative(field, share)
    : invalidEach(field, share, percent(share));
}

function validateAtMostAll(share: IntOrString, field: string): readonly FieldError[] {
  return typeof share === 'string' && quantity(share) > 100
    ? [invalid(field, share, 'must not be greater than 100%')]
    : [];
}

/** The number of pods, or of percent. */
function quantity(share: IntOrString): number {
  if (typeof share === 'number') return share;
  return isPercent(share) ? Number.parseInt(share, 10) : 0;
}
