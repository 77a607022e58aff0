// Validation of cron jobs, in upstream's order (pkg/apis/batch/validation).
import {
  type FieldError,
  invalid,
  joined,
  notSupported,
  required,
  tooLong,
} from '../../meta/field-error.ts';
import { validateJobSpec } from '../job/validate.ts';
import { validateChoice, validateNotNegative } from '../pod/field-rules.ts';
import { maxScheduleLength, parseSchedule } from './parse-schedule.ts';
import { findTimeZone } from './time-zone.ts';
import type { CronJob, CronJobSpec, JobTemplateSpec } from './types.ts';

/** The name of a job has 11 more characters, and is a label. */
const maxNameLength = 52;

export function validateCronJob(cronJob: CronJob): readonly FieldError[] {
  const { name = '' } = cronJob.metadata;
  return joined([
    validateSpec(cronJob.spec, undefined),
    Buffer.byteLength(name) > maxNameLength
      ? [invalid('metadata.name', name, `must be no more than ${maxNameLength} characters`)]
      : [],
  ]);
}

/** The length of a name is checked on creation only. */
export function validateCronJobUpdate(before: CronJob, after: CronJob): readonly FieldError[] {
  return validateSpec(after.spec, before.spec);
}

function validateSpec(spec: CronJobSpec, before: CronJobSpec | undefined): readonly FieldError[] {
  const isZoneKnown = before !== undefined && before.timeZone === spec.timeZone;
  return joined([
    validateSchedule(spec.schedule, 'spec.schedule'),
    validateNotNegative('spec.startingDeadlineSeconds', spec.startingDeadlineSeconds),
    isZoneKnown ? [] : validateTimeZone(spec.timeZone, 'spec.timeZone'),
    validateChoice('spec.concurrencyPolicy', spec.concurrencyPolicy, policies),
    validateJobTemplate(spec.jobTemplate, 'spec.jobTemplate.spec'),
    validateNotNegative('spec.successfulJobsHistoryLimit', spec.successfulJobsHistoryLimit),
    validateNotNegative('spec.failedJobsHistoryLimit', spec.failedJobsHistoryLimit),
  ]);
}

const policies: readonly string[] = ['Allow', 'Forbid', 'Replace'];

function validateSchedule(schedule: string, field: string): readonly FieldError[] {
  if (schedule === '') return [required(field)];
  if (schedule.length > maxScheduleLength) return [tooLong(field, maxScheduleLength)];
  const [, zone, rest] = /^(?:CRON_)?TZ=([^ ]*) (.*)$/s.exec(schedule) ?? [];
  const parsed = parseSchedule(rest?.trim() ?? schedule);
  const isUnknown = zone !== undefined && findTimeZone(zone) === undefined;
  const problem = isUnknown
    ? `provided bad location ${zone}: unknown time zone ${zone}`
    : 'error' in parsed
      ? parsed.error
      : undefined;
  const noZone = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
  return [
    ...(problem === undefined ? [] : [invalid(field, schedule, problem)]),
    ...(schedule.includes('TZ') ? [invalid(field, schedule, noZone)] : []),
  ];
}

function validateTimeZone(zone: string | undefined, field: string): readonly FieldError[] {
  if (zone === undefined) return [];
  if (zone === '') return [invalid(field, zone, 'timeZone must be nil or non-empty string')];
  const isLocal = zone.toLowerCase() === 'local';
  const explicit =
    'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  return [
    ...(isLocal ? [invalid(field, zone, explicit)] : []),
    ...(zone === 'Local' || findTimeZone(zone) !== undefined
      ? []
      : [invalid(field, zone, `unknown time zone ${zone}`)]),
  ];
}

function validateJobTemplate({ spec }: JobTemplateSpec, field: string): readonly FieldError[] {
  return joined([
    validateJobSpec(spec, field),
    spec.selector === undefined
      ? []
      : [invalid(`${field}.selector`, spec.selector, '`selector` will be auto-generated')],
    spec.manualSelector === true
      ? [notSupported(`${field}.manualSelector`, spec.manualSelector, ['nil', 'false'])]
      : [],
  ]);
}
