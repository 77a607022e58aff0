import { formatSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import { humanDuration, parseTime } from '../../schema/time.ts';
import type { Column } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { templateColumns } from '../pod-template/columns.ts';
import { hasJobCondition, type JobConditionType } from './conditions.ts';
import type { Job } from './types.ts';

export const jobColumns: readonly Column<Job>[] = [
  nameColumn,
  {
    name: 'Status',
    type: 'string',
    description: 'Status of the job.',
    cell: jobStatusText,
  },
  {
    name: 'Completions',
    type: 'string',
    description:
      'The number of pods which reached phase Succeeded. The value increases monotonically for a given spec. However, it may decrease in reaction to scale down of elastic indexed jobs.',
    cell: completionsText,
  },
  {
    name: 'Duration',
    type: 'string',
    description: 'Time required to complete the job.',
    cell: jobDuration,
  },
  ageColumn,
  ...templateColumns<Job>(({ spec }) => spec.template),
  {
    name: 'Selector',
    type: 'string',
    priority: 1,
    description:
      'A label query over pods that should match the pod count. Normally, the system sets this field for you. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors',
    cell: ({ spec }) => formatSelector(selectorFromLabelSelector(spec.selector)) || '<none>',
  },
];

const shownConditions: readonly JobConditionType[] = [
  'Suspended',
  'FailureTarget',
  'SuccessCriteriaMet',
];

function jobStatusText(job: Job): string {
  if (hasJobCondition(job, 'Complete')) return 'Complete';
  if (hasJobCondition(job, 'Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating';
  return shownConditions.find((type) => hasJobCondition(job, type)) ?? 'Running';
}

function completionsText({ spec, status }: Job): string {
  const { succeeded = 0 } = status;
  const { completions, parallelism = 0 } = spec;
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

/** Empty until it starts. */
function jobDuration({ status }: Job, now: number): string {
  const start = parseTime(status.startTime ?? '');
  if (start === undefined) return '';
  return humanDuration((parseTime(status.completionTime ?? '') ?? now) - start);
}
