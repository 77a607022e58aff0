import {
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import {
  type LabelSelector,
  selectorFromLabelSelector,
  validateLabelSelector,
} from '../../meta/labels.ts';
import { dns1123Label } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import { invalidEach, validateNotNegative } from '../pod/field-rules.ts';
import { isEmptySelector } from '../pod-template/selector.ts';
import type { PodTemplateSpec } from '../pod-template/types.ts';
import { validateOwnedTemplate } from '../pod-template/validate.ts';
import { validateAtMost } from '../replica-set/validate.ts';
import type {
  ClaimRetentionPolicy,
  StatefulSet,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from './types.ts';

export function validateStatefulSet({ spec }: StatefulSet): readonly FieldError[] {
  return [
    ...validateManagementPolicy(spec.podManagementPolicy, 'spec.podManagementPolicy'),
    ...validateStrategy(spec.updateStrategy, 'spec.updateStrategy'),
    ...validateRetention(
      spec.persistentVolumeClaimRetentionPolicy,
      'spec.persistentVolumeClaimRetentionPolicy',
    ),
    ...validateNotNegative('spec.replicas', spec.replicas),
    ...validateNotNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...validateNotNegative('spec.ordinals.start', spec.ordinals?.start),
    ...validateSelector(spec.selector, 'spec.selector'),
    ...(spec.serviceName
      ? invalidEach('spec.serviceName', spec.serviceName, dns1123Label(spec.serviceName))
      : []),
    ...validateTemplate(spec, 'spec.template'),
  ];
}

const mayChange = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const satisfies readonly (keyof StatefulSetSpec)[];
const changeDetail =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

export function validateStatefulSetUpdate(
  before: StatefulSet,
  after: StatefulSet,
): readonly FieldError[] {
  const isAllowed = deepEqual(fixedPart(before.spec), fixedPart(after.spec));
  return [...validateStatefulSet(after), ...(isAllowed ? [] : [forbidden('spec', changeDetail)])];
}

function fixedPart(spec: StatefulSetSpec): object {
  return Object.fromEntries(
    Object.entries(spec).filter(([name]) => !(mayChange as readonly string[]).includes(name)),
  );
}

export function validateStatefulSetStatus({ status }: StatefulSet): readonly FieldError[] {
  const { replicas, readyReplicas = 0, currentReplicas = 0, updatedReplicas = 0 } = status;
  const { availableReplicas } = status;
  return [
    ...validateNotNegative('status.replicas', replicas),
    ...validateNotNegative('status.readyReplicas', readyReplicas),
    ...validateNotNegative('status.currentReplicas', currentReplicas),
    ...validateNotNegative('status.updatedReplicas', updatedReplicas),
    ...validateNotNegative('status.availableReplicas', availableReplicas),
    ...validateNotNegative('status.observedGeneration', status.observedGeneration),
    ...validateNotNegative('status.collisionCount', status.collisionCount),
    ...validateAtMost('readyReplicas', readyReplicas, replicas, 'status.replicas'),
    ...validateAtMost('currentReplicas', currentReplicas, replicas, 'status.replicas'),
    ...validateAtMost('updatedReplicas', updatedReplicas, replicas, 'status.replicas'),
    ...validateAtMost('availableReplicas', availableReplicas, replicas, 'status.replicas'),
    ...validateAtMost(
      'availableReplicas',
      availableReplicas,
      readyReplicas,
      'status.readyReplicas',
    ),
  ];
}

function validateManagementPolicy(
  policy: string | undefined,
  field: string,
): readonly FieldError[] {
  if (!policy) return [required(field)];
  return policy === 'OrderedReady' || policy === 'Parallel'
    ? []
    : [invalid(field, policy, "must be 'OrderedReady' or 'Parallel'")];
}

function validateStrategy(
  { type = '', rollingUpdate }: StatefulSetUpdateStrategy,
  field: string,
): readonly FieldError[] {
  // Upstream shows its internal form.
  const shown =
    rollingUpdate === undefined
      ? null
      : { Partition: rollingUpdate.partition ?? 0, MaxUnavailable: null };
  switch (type) {
    case '':
      return [required(field)];
    case 'OnDelete':
      return shown === null
        ? []
        : [
            invalid(
              `${field}.rollingUpdate`,
              shown,
              "only allowed for updateStrategy 'RollingUpdate'",
            ),
          ];
    case 'RollingUpdate':
      return validateNotNegative(`${field}.rollingUpdate.partition`, rollingUpdate?.partition);
    default:
      return [
        invalid(
          field,
          { Type: type, RollingUpdate: shown },
          "must be 'RollingUpdate' or 'OnDelete'",
        ),
      ];
  }
}

function validateRetention(
  { whenDeleted, whenScaled }: ClaimRetentionPolicy = {
    whenDeleted: 'Retain',
    whenScaled: 'Retain',
  },
  field: string,
): readonly FieldError[] {
  const policies = ['Retain', 'Delete'];
  return [
    ...(policies.includes(whenDeleted ?? '')
      ? []
      : [notSupported(`${field}.whenDeleted`, whenDeleted, policies)]),
    ...(policies.includes(whenScaled ?? '')
      ? []
      : [notSupported(`${field}.whenScaled`, whenScaled, policies)]),
  ];
}

function validateSelector(
  selector: LabelSelector | undefined,
  field: string,
): readonly FieldError[] {
  return [
    ...(selector === undefined ? [required(field)] : validateLabelSelector(selector, field)),
    ...(isEmptySelector(selector)
      ? [invalid(field, selector, 'empty selector is invalid for statefulset')]
      : []),
  ];
}

function validateTemplate(spec: StatefulSetSpec, field: string): readonly FieldError[] {
  const { selector } = spec;
  if (validateLabelSelector(selector, field).length > 0)
    return [invalid('spec.selector', selector, '')];
  return validateOwnedTemplate(
    withClaimVolumes(spec),
    { kind: 'StatefulSet', selector: selectorFromLabelSelector(selector) },
    field,
  );
}

/** Containers may mount what the pods get from the claim templates. */
function withClaimVolumes({
  template,
  volumeClaimTemplates = [],
}: StatefulSetSpec): PodTemplateSpec {
  if (volumeClaimTemplates.length === 0) return template;
  const volumes = template.spec.volumes ?? [];
  const added = volumeClaimTemplates
    .map(({ metadata }) => metadata.name ?? '')
    .filter((name) => !volumes.some((volume) => volume.name === name))
    .map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...template, spec: { ...template.spec, volumes: [...volumes, ...added] } };
}
