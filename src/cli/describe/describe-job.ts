// Describes Jobs and CronJobs. Pure. The fields are kubectl's.
import type { CronJob } from '../../kinds/cron-job/types.ts';
import type { Job, JobSpec } from '../../kinds/job/types.ts';
import { formatSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import { controllerOf } from '../../meta/owner.ts';
import { humanDuration, parseTime } from '../../schema/time.ts';
import { labelsText } from '../output/print.ts';
import { type Field, heading, line, list } from './describe-text.ts';

const unset = '<unset>';
const seconds = (value: number): string => `${value}s`;
const optional = (label: string, value: string | number | undefined): readonly Field[] =>
  value === undefined ? [] : [line(label, String(value))];

export function describeJob(job: Job): readonly Field[] {
  const { metadata, spec, status } = job;
  const controller = controllerOf(job);
  const { active = 0, ready = 0, succeeded = 0, failed = 0, terminating } = status;
  const leaving = terminating ? ` / ${terminating} Terminating` : '';
  return [
    ...heading(metadata),
    line('Selector', formatSelector(selectorFromLabelSelector(spec.selector))),
    ...(controller === undefined
      ? []
      : [line('Controlled By', `${controller.kind}/${controller.name}`)]),
    ...jobFields(spec),
    ...optional('Start Time', status.startTime),
    ...optional('Completed At', status.completionTime),
    ...optional('Duration', durationText(job)),
    line(
      'Pods Statuses',
      `${active} Active (${ready} Ready) / ${succeeded} Succeeded / ${failed} Failed${leaving}`,
    ),
    ...optional('Completed Indexes', status.completedIndexes),
    ...optional('Failed Indexes', status.failedIndexes),
    ...conditionFields(job),
    podTemplate(spec),
  ];
}

function jobFields(spec: JobSpec): readonly Field[] {
  return [
    line('Parallelism', String(spec.parallelism ?? unset)),
    line('Completions', String(spec.completions ?? unset)),
    ...optional('Completion Mode', spec.completionMode),
    ...optional('Suspend', spec.suspend === undefined ? undefined : String(spec.suspend)),
    ...optional('Backoff Limit', spec.backoffLimit),
    ...optional('Backoff Limit Per Index', spec.backoffLimitPerIndex),
    ...optional('Max Failed Indexes', spec.maxFailedIndexes),
    ...optional('TTL Seconds After Finished', spec.ttlSecondsAfterFinished),
    ...(spec.activeDeadlineSeconds === undefined
      ? []
      : [line('Active Deadline Seconds', seconds(spec.activeDeadlineSeconds))]),
    ...optional('Managed By', spec.managedBy),
  ];
}

function durationText({ status }: Job): string | undefined {
  const start = parseTime(status.startTime ?? '');
  const end = parseTime(status.completionTime ?? '');
  return start === undefined || end === undefined ? undefined : humanDuration(end - start);
}

function conditionFields({ status }: Job): readonly Field[] {
  const conditions = status.conditions ?? [];
  if (conditions.length === 0) return [];
  const rows = conditions.map(({ type, status, reason = '', message = '' }) => [
    type,
    status,
    reason,
    message,
  ]);
  return [{ label: 'Conditions', header: ['Type', 'Status', 'Reason', 'Message'], rows }];
}

function podTemplate({ template }: JobSpec): Field {
  const { priorityClassName } = template.spec;
  const containers = template.spec.containers ?? [];
  return {
    label: 'Pod Template',
    fields: [
      line('Labels', labelsText(template.metadata.labels)),
      ...optional('Priority Class Name', priorityClassName),
      {
        label: 'Containers',
        fields: containers.map(({ name, image = '', command = [], args = [] }) => ({
          label: name,
          fields: [
            line('Image', image),
            ...(command.length === 0 ? [] : [{ label: 'Command', lines: command }]),
            ...(args.length === 0 ? [] : [{ label: 'Args', lines: args }]),
          ],
        })),
      },
    ],
  };
}

export function describeCronJob({ metadata, spec, status }: CronJob): readonly Field[] {
  const { startingDeadlineSeconds: deadline } = spec;
  return [
    ...heading(metadata),
    line('Schedule', spec.schedule),
    ...optional('Time Zone', spec.timeZone),
    line('Concurrency Policy', spec.concurrencyPolicy ?? unset),
    line('Suspend', spec.suspend === true ? 'True' : 'False'),
    line('Successful Job History Limit', String(spec.successfulJobsHistoryLimit ?? unset)),
    line('Failed Job History Limit', String(spec.failedJobsHistoryLimit ?? unset)),
    line('Starting Deadline Seconds', deadline === undefined ? unset : seconds(deadline)),
    ...jobFields(spec.jobTemplate.spec),
    podTemplate(spec.jobTemplate.spec),
    line('Last Schedule Time', status.lastScheduleTime ?? unset),
    ...optional('Last Successful Time', status.lastSuccessfulTime),
    list(
      'Active Jobs',
      (status.active ?? []).map(({ name = '' }) => name),
    ),
  ];
}
