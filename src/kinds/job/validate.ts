// Validation of jobs, in upstream's order (pkg/apis/batch/validation).
import {
  type FieldError,
  invalid,
  joined,
  notSupported,
  required,
  tooLong,
} from '../../meta/field-error.ts';
import {
  matchesSelector,
  selectorFromLabelSelector,
  validateLabelSelector,
} from '../../meta/labels.ts';
import { dns1123Label, domainPrefixedPath } from '../../meta/names.ts';
import { controllerUidLabel, jobNameLabel } from '../../meta/well-known-labels.ts';
import { invalidEach, validateNotNegative } from '../pod/field-rules.ts';
import { validatePodTemplate } from '../pod-template/validate.ts';
import { legacyControllerUidLabel, legacyJobNameLabel } from './names.ts';
import type { Job, JobSpec } from './types.ts';
import { validatePodFailurePolicy } from './validate-failure-policy.ts';
import { validateSuccessPolicy } from './validate-success-policy.ts';

/** The indexes of finished pods are in the status: more pods at a time would make it too large. */
const maxIndexedParallelism = 100_000;
const maxFailedIndexes = 100_000;
/** With more completions and a limit per index, parallelism and failed indexes have lower limits. */
const highCompletions = 100_000;
const limitOfHighCompletions = 10_000;
const maxManagedByLength = 63;

export function validateJob(job: Job): readonly FieldError[] {
  return joined([
    validateGeneratedSelector(job),
    validateOwnJobSpec(job.spec, 'spec'),
    validateHostname(job),
  ]);
}

/** Names of pods of an indexed job are also their hostnames. */
function validateHostname({ metadata, spec }: Job): readonly FieldError[] {
  const { completions = 0 } = spec;
  if (spec.completionMode !== 'Indexed' || completions <= 0) return [];
  const { name = '' } = metadata;
  const hostname = `${name}-${completions - 1}`;
  return dns1123Label(hostname).length === 0
    ? []
    : [
        invalid(
          'metadata.name',
          name,
          `will not able to create pod with invalid DNS label: ${hostname}`,
        ),
      ];
}

function validateGeneratedSelector({ metadata, spec }: Job): readonly FieldError[] {
  const { selector, template } = spec;
  if (spec.manualSelector === true || selector === undefined) return [];
  const { name = '', uid = '' } = metadata;
  const { labels } = template.metadata;
  const mustBe = (key: string, value: string): readonly FieldError[] => {
    const field = `spec.template.metadata.labels[${key}]`;
    const given = labels?.[key];
    if (given === undefined) return [required(field, `must be '${value}'`)];
    return given === value ? [] : [invalid(field, labels, `must be '${value}'`)];
  };
  const expected = { [controllerUidLabel]: uid, [jobNameLabel]: name };
  return [
    ...(uid === '' ? [required('metadata.uid')] : []),
    ...mustBe(legacyControllerUidLabel, uid),
    ...mustBe(legacyJobNameLabel, name),
    ...mustBe(controllerUidLabel, uid),
    ...mustBe(jobNameLabel, name),
    ...(matchesSelector(selectorFromLabelSelector(selector), expected) ||
    validateLabelSelector(selector, '').length > 0
      ? []
      : [invalid('spec.selector', selector, '`selector` not auto-generated')]),
  ];
}

function validateOwnJobSpec(spec: JobSpec, field: string): readonly FieldError[] {
  const { selector, template } = spec;
  const { labels } = template.metadata;
  const wrong = validateLabelSelector(selector, `${field}.selector`);
  const matches = matchesSelector(selectorFromLabelSelector(selector), labels);
  return [
    ...validateJobSpec(spec, field),
    ...(selector === undefined ? [required(`${field}.selector`)] : wrong),
    ...(matches || wrong.length > 0
      ? []
      : [
          invalid(
            `${field}.template.metadata.labels`,
            labels,
            '`selector` does not match template `labels`',
          ),
        ]),
  ];
}

/** Of a job, or of the job template of a cron job. */
export function validateJobSpec(spec: JobSpec, field: string): readonly FieldError[] {
  return joined([
    validateNotNegative(`${field}.parallelism`, spec.parallelism),
    validateNotNegative(`${field}.completions`, spec.completions),
    validateNotNegative(`${field}.activeDeadlineSeconds`, spec.activeDeadlineSeconds),
    validateNotNegative(`${field}.backoffLimit`, spec.backoffLimit),
    validateNotNegative(`${field}.ttlSecondsAfterFinished`, spec.ttlSecondsAfterFinished),
    validateNotNegative(`${field}.backoffLimitPerIndex`, spec.backoffLimitPerIndex),
    validateNotNegative(`${field}.maxFailedIndexes`, spec.maxFailedIndexes),
    spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined
      ? [required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified')]
      : [],
    validateManagedBy(spec.managedBy, `${field}.managedBy`),
    validateMode(spec, field),
    spec.podFailurePolicy === undefined
      ? []
      : validatePodFailurePolicy(spec, spec.podFailurePolicy, `${field}.podFailurePolicy`),
    spec.successPolicy === undefined
      ? []
      : validateSuccessPolicy(spec, spec.successPolicy, `${field}.successPolicy`),
    validateReplacement(spec, `${field}.podReplacementPolicy`),
    validatePodTemplate(spec.template, `${field}.template`),
    validateRestartPolicy(spec, `${field}.template.spec.restartPolicy`),
  ]);
}

function validateManagedBy(managedBy: string | undefined, field: string): readonly FieldError[] {
  if (managedBy === undefined) return [];
  return [
    ...invalidEach(field, managedBy, domainPrefixedPath(managedBy)),
    ...(Buffer.byteLength(managedBy) > maxManagedByLength
      ? [tooLong(field, maxManagedByLength)]
      : []),
  ];
}

function validateMode(spec: JobSpec, field: string): readonly FieldError[] {
  switch (spec.completionMode ?? 'NonIndexed') {
    case 'NonIndexed':
      return (['backoffLimitPerIndex', 'maxFailedIndexes'] as const).flatMap((name) =>
        spec[name] === undefined
          ? []
          : [invalid(`${field}.${name}`, spec[name], 'requires indexed completion mode')],
      );
    case 'Indexed':
      return validateIndexed(spec, field);
    default:
      return [
        notSupported(`${field}.completionMode`, spec.completionMode, ['NonIndexed', 'Indexed']),
      ];
  }
}

function validateIndexed(spec: JobSpec, field: string): readonly FieldError[] {
  const { completions, parallelism = 0, maxFailedIndexes: failed } = spec;
  const atMost = (name: string, value: number, limit: number, when = ''): readonly FieldError[] =>
    value > limit
      ? [invalid(`${field}.${name}`, value, `must be less than or equal to ${limit}${when}`)]
      : [];
  const isHigh =
    completions !== undefined &&
    completions > highCompletions &&
    spec.backoffLimitPerIndex !== undefined;
  const whenHigh = ` when completions are above ${highCompletions} and used with backoff limit per index`;
  return [
    ...(completions === undefined
      ? [required(`${field}.completions`, 'when completion mode is Indexed')]
      : []),
    ...atMost(
      'parallelism',
      parallelism,
      maxIndexedParallelism,
      ' when completion mode is Indexed',
    ),
    ...(completions !== undefined && failed !== undefined && failed > completions
      ? [invalid(`${field}.maxFailedIndexes`, failed, 'must be less than or equal to completions')]
      : []),
    ...atMost('maxFailedIndexes', failed ?? 0, maxFailedIndexes),
    ...(isHigh && failed === undefined
      ? [
          required(
            `${field}.maxFailedIndexes`,
            `must be specified when completions is above ${highCompletions}`,
          ),
        ]
      : []),
    ...(isHigh ? atMost('parallelism', parallelism, limitOfHighCompletions, whenHigh) : []),
    ...(isHigh ? atMost('maxFailedIndexes', failed ?? 0, limitOfHighCompletions, whenHigh) : []),
  ];
}

/** With a pod failure policy, only pods that have failed are replaced. */
function validateReplacement(
  { podReplacementPolicy: policy, podFailurePolicy }: JobSpec,
  field: string,
): readonly FieldError[] {
  const choices = podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
  return policy === undefined || choices.includes(policy)
    ? []
    : [notSupported(field, policy, choices)];
}

function validateRestartPolicy(
  { template, podFailurePolicy }: JobSpec,
  field: string,
): readonly FieldError[] {
  const { restartPolicy } = template.spec;
  switch (restartPolicy || 'Always') {
    case 'Always':
      return [required(field, 'valid values: "OnFailure", "Never"')];
    case 'Never':
      return [];
    case 'OnFailure':
      return podFailurePolicy === undefined
        ? []
        : [
            invalid(
              field,
              restartPolicy,
              'only "Never" is supported when podFailurePolicy is specified',
            ),
          ];
    default:
      return [notSupported(field, restartPolicy, ['OnFailure', 'Never'])];
  }
}
