// Validation of the status of jobs: controllers that a job names in managedBy write it too.
// Upstream: validateJobStatus() in pkg/apis/batch/validation; a rule applies where what it is about has changed.
import { duplicate, type FieldError, invalid, joined, required } from '../../meta/field-error.ts';
import { deepEqual } from '../../schema/equality.ts';
import { parseTime } from '../../schema/time.ts';
import { validateNotNegative } from '../pod/field-rules.ts';
import {
  hasJobCondition,
  isIndexedJob,
  isJobFinished,
  type JobConditionType,
} from './conditions.ts';
import { commonIndex, parseIndexes } from './indexes.ts';
import type { Job, JobStatus } from './types.ts';
import { withoutValue } from './validate-failure-policy.ts';

type Change = {
  readonly before: Job;
  readonly after: Job;
  /** Whether one of these fields of the status has changed. */
  readonly changed: (...fields: readonly (keyof JobStatus)[]) => boolean;
  readonly turned: (...types: readonly JobConditionType[]) => boolean;
  readonly hasFinished: boolean;
};

export function validateJobStatusUpdate(before: Job, after: Job): readonly FieldError[] {
  const change: Change = {
    before,
    after,
    changed: (...fields) =>
      fields.some((field) => !deepEqual(before.status[field], after.status[field])),
    turned: (...types) =>
      types.some((type) => hasJobCondition(before, type) !== hasJobCondition(after, type)),
    hasFinished: isJobFinished(before) !== isJobFinished(after),
  };
  return joined([
    validateCounters(after.status),
    validateUncounted(after.status),
    validateConditions(change),
    validateTimes(change),
    validateFinished(change),
    validateIndexFields(change),
    validateTransitions(change),
  ]);
}

const counters = ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const;

function validateCounters(status: JobStatus): readonly FieldError[] {
  return counters.flatMap((name) => validateNotNegative(`status.${name}`, status[name]));
}

function validateUncounted({ uncountedTerminatedPods }: JobStatus): readonly FieldError[] {
  const seen = new Set<string>();
  return (['succeeded', 'failed'] as const).flatMap((name) =>
    (uncountedTerminatedPods?.[name] ?? []).flatMap((uid, index) => {
      const field = `status.uncountedTerminatedPods.${name}[${index}]`;
      if (uid === '') return [invalid(field, uid, 'must not be empty')];
      if (seen.has(uid)) return [duplicate(field, uid)];
      seen.add(uid);
      return [];
    }),
  );
}

const conditionsField = 'status.conditions';

type Rule = readonly [both: JobConditionType, and: JobConditionType, shown: string];

/** Conditions that exclude each other. */
const exclusive: readonly Rule[] = [
  ['Complete', 'Failed', 'Complete=True and Failed=true'],
  ['Complete', 'FailureTarget', 'Complete=True and FailureTarget=true'],
  ['SuccessCriteriaMet', 'Failed', 'SuccessCriteriaMet=True and Failed=true'],
  ['SuccessCriteriaMet', 'FailureTarget', 'SuccessCriteriaMet=True and FailureTarget=true'],
];

/** Conditions that come after another. */
const sequels: readonly Rule[] = [
  ['Failed', 'FailureTarget', 'Failed=True condition without the FailureTarget=true'],
  ['Complete', 'SuccessCriteriaMet', 'Complete=True condition without the SuccessCriteriaMet=true'],
];

function validateConditions({ after, turned }: Change): readonly FieldError[] {
  return [
    ...exclusive.flatMap(([a, b, shown]) =>
      turned(a, b) && hasJobCondition(after, a) && hasJobCondition(after, b)
        ? [withoutValue(conditionsField, `cannot set ${shown} conditions`)]
        : [],
    ),
    ...sequels.flatMap(([then, first, shown]) =>
      turned(then, first) && hasJobCondition(after, then) && !hasJobCondition(after, first)
        ? [withoutValue(conditionsField, `cannot set ${shown} condition`)]
        : [],
    ),
  ];
}

function validateTimes({ after, changed, turned }: Change): readonly FieldError[] {
  const { completionTime, startTime } = after.status;
  const field = 'status.completionTime';
  const isComplete = hasJobCondition(after, 'Complete');
  const isJudged = turned('Complete') || changed('completionTime');
  const isEarly =
    startTime !== undefined &&
    completionTime !== undefined &&
    (parseTime(completionTime) ?? 0) < (parseTime(startTime) ?? 0);
  return [
    ...(isJudged && completionTime !== undefined && !isComplete
      ? [
          invalid(
            field,
            completionTime,
            'cannot set completionTime when there is no Complete=True condition',
          ),
        ]
      : []),
    ...(isJudged && completionTime === undefined && isComplete
      ? [required(field, 'completionTime is required for Complete jobs')]
      : []),
    ...(isEarly && changed('startTime', 'completionTime')
      ? [invalid(field, completionTime, 'completionTime cannot be set before startTime')]
      : []),
  ];
}

function validateFinished({ after, changed, hasFinished }: Change): readonly FieldError[] {
  const {
    active = 0,
    terminating = 0,
    ready = 0,
    startTime,
    uncountedTerminatedPods,
  } = after.status;
  const { succeeded = [], failed = [] } = uncountedTerminatedPods ?? {};
  const isFinished = isJobFinished(after);
  const judged = (field: keyof JobStatus): boolean => isFinished && (hasFinished || changed(field));
  return [
    ...(judged('active') && active > 0
      ? [invalid('status.active', active, 'active>0 is invalid for finished job')]
      : []),
    ...(judged('terminating') && terminating > 0
      ? [invalid('status.terminating', terminating, 'terminating>0 is invalid for finished job')]
      : []),
    ...(judged('startTime') && startTime === undefined
      ? [required('status.startTime', 'startTime is required for finished job')]
      : []),
    ...(judged('uncountedTerminatedPods') && succeeded.length + failed.length > 0
      ? [
          invalid(
            'status.uncountedTerminatedPods',
            uncountedTerminatedPods,
            'uncountedTerminatedPods needs to be empty for finished job',
          ),
        ]
      : []),
    ...(changed('ready', 'active') && ready > active
      ? [invalid('status.ready', ready, 'cannot set more ready pods than active')]
      : []),
  ];
}

function validateIndexFields({ after, changed }: Change): readonly FieldError[] {
  const { completedIndexes = '', failedIndexes } = after.status;
  const { completions, backoffLimitPerIndex } = after.spec;
  const fields: FieldError[] = [];
  if (completions !== undefined && changed('completedIndexes'))
    fields.push(...validateIndexText('completedIndexes', completedIndexes, completions));
  const isLimited = backoffLimitPerIndex !== undefined;
  if (isLimited && completions !== undefined && changed('failedIndexes'))
    fields.push(...validateIndexText('failedIndexes', failedIndexes ?? '', completions));
  if (changed('completedIndexes') && completedIndexes !== '' && !isIndexedJob(after)) {
    const detail = 'cannot set non-empty completedIndexes when non-indexed completion mode';
    fields.push(invalid('status.completedIndexes', completedIndexes, detail));
  }
  if (changed('failedIndexes') && !isLimited && failedIndexes !== undefined) {
    const detail = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null';
    fields.push(invalid('status.failedIndexes', failedIndexes, detail));
  }
  if (completions === undefined || !failedIndexes || !changed('failedIndexes', 'completedIndexes'))
    return fields;
  return [...fields, ...validateDisjoint(completedIndexes, failedIndexes, completions)];
}

function validateIndexText(name: string, text: string, completions: number): readonly FieldError[] {
  const parsed = parseIndexes(text, completions);
  return 'error' in parsed
    ? [invalid(`status.${name}`, text, `error parsing ${name}: ${parsed.error}`)]
    : [];
}

function validateDisjoint(
  completed: string,
  failed: string,
  completions: number,
): readonly FieldError[] {
  const a = parseIndexes(completed, completions);
  const b = parseIndexes(failed, completions);
  if ('error' in a || 'error' in b) return [];
  const common = commonIndex(a.intervals, b.intervals);
  return common === undefined
    ? []
    : [
        invalid(
          'status.failedIndexes',
          failed,
          `failedIndexes and completedIndexes overlap at index: ${common}`,
        ),
      ];
}

/** The last one in other words, as upstream. */
const terminalConditions = [
  ['Failed', 'terminal Failed'],
  ['Complete', 'terminal Complete'],
  ['FailureTarget', 'terminal FailureTarget'],
  ['SuccessCriteriaMet', 'SuccessCriteriaMet'],
] as const;

function validateTransitions({ before, after, changed }: Change): readonly FieldError[] {
  const { completions, parallelism, suspend } = after.spec;
  const was = before.status;
  const is = after.status;
  // The time of a job that is resumed begins anew.
  const isResumed = hasJobCondition(before, 'Suspended');
  // An elastic indexed job may be scaled down.
  const mayShrink = completions === parallelism;
  return [
    ...terminalConditions.flatMap(([type, shown]) =>
      hasJobCondition(before, type) && !hasJobCondition(after, type)
        ? [withoutValue(conditionsField, `cannot disable the ${shown}=True condition`)]
        : [],
    ),
    ...((is.failed ?? 0) < (was.failed ?? 0)
      ? [invalid('status.failed', is.failed ?? 0, 'cannot decrease the failed counter')]
      : []),
    ...(!mayShrink && (is.succeeded ?? 0) < (was.succeeded ?? 0)
      ? [invalid('status.succeeded', is.succeeded ?? 0, 'cannot decrease the succeeded counter')]
      : []),
    ...(is.completionTime !== undefined &&
    was.completionTime !== undefined &&
    changed('completionTime')
      ? [invalid('status.completionTime', is.completionTime, 'completionTime cannot be mutated')]
      : []),
    ...(was.startTime !== undefined && changed('startTime') && suspend !== true && !isResumed
      ? [required('status.startTime', 'startTime cannot be removed for unsuspended job')]
      : []),
  ];
}
