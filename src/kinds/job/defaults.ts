import { defaultPodTemplate } from '../pod-template/defaults.ts';
import type { Job, JobSpec, PodFailurePolicy } from './types.ts';

const defaultBackOffLimit = 6;
/** With a limit per index the limit of the whole job does not matter. */
const noBackOffLimit = 2 ** 31 - 1;

export function defaultJob(job: Job): Job {
  const spec = defaultJobSpec(job.spec);
  const { labels } = spec.template.metadata;
  const isLabelled = Object.keys(job.metadata.labels ?? {}).length > 0;
  return {
    ...job,
    // The same object, as upstream: labels that are generated for the template are then the job's too.
    ...(labels === undefined || isLabelled ? {} : { metadata: { ...job.metadata, labels } }),
    spec,
  };
}

function defaultJobSpec(spec: JobSpec): JobSpec {
  const { completions, parallelism, podFailurePolicy, backoffLimitPerIndex } = spec;
  const isSingle = completions === undefined && parallelism === undefined;
  return {
    ...spec,
    ...(isSingle ? { completions: 1 } : {}),
    parallelism: parallelism ?? 1,
    backoffLimit:
      spec.backoffLimit ??
      (backoffLimitPerIndex === undefined ? defaultBackOffLimit : noBackOffLimit),
    manualSelector: spec.manualSelector ?? false,
    template: defaultPodTemplate(spec.template),
    completionMode: spec.completionMode ?? 'NonIndexed',
    suspend: spec.suspend ?? false,
    ...(podFailurePolicy === undefined
      ? {}
      : { podFailurePolicy: defaultFailurePolicy(podFailurePolicy) }),
    podReplacementPolicy:
      spec.podReplacementPolicy ??
      (podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed'),
  };
}

function defaultFailurePolicy(policy: PodFailurePolicy): PodFailurePolicy {
  return {
    rules: (policy.rules ?? []).map((rule) =>
      rule.onPodConditions === undefined
        ? rule
        : {
            ...rule,
            onPodConditions: rule.onPodConditions.map((pattern) => ({
              ...pattern,
              status: pattern.status || 'True',
            })),
          },
    ),
  };
}
