// Warnings about jobs. Upstream: pkg/api/job/warnings.go.
import { templateWarnings } from '../pod/warnings.ts';
import type { JobSpec } from './types.ts';

/** Above both of these the indexes may not fit into the status. */
const manyCompletions = 100_000;
const manyParallel = 10_000;

/** Of a job, or of the job template of a cron job. */
export function jobSpecWarnings(spec: JobSpec, field: string): readonly string[] {
  const { completions = 0, parallelism = 0, completionMode } = spec;
  const isLarge =
    completionMode === 'Indexed' && completions > manyCompletions && parallelism > manyParallel;
  const large =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
  return [
    ...(isLarge ? [`${field}: ${large}`] : []),
    ...templateWarnings(spec.template, `${field}.template.`),
  ];
}
