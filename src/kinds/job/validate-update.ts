// What may change in a job. Upstream: ValidateJobSpecUpdate() in pkg/apis/batch/validation.
import { type FieldError, invalid, joined } from '../../meta/field-error.ts';
import { deepEqual } from '../../schema/equality.ts';
import { immutableField } from '../immutable-field.ts';
import type { Affinity } from '../pod/affinity.ts';
import type { Container } from '../pod/container.ts';
import { shownPodSpec, shownPodTemplate } from '../pod/internal-form.ts';
import type { PodTemplateSpec } from '../pod-template/types.ts';
import { hasJobCondition } from './conditions.ts';
import type { Job } from './types.ts';
import { validateJob } from './validate.ts';

const immutableBeforeTemplate = ['selector'] as const;
const immutableAfterTemplate = [
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
] as const;

export function validateJobUpdate(before: Job, after: Job): readonly FieldError[] {
  const unchanged = (name: keyof Job['spec']): readonly FieldError[] =>
    immutableField({ field: `spec.${name}`, before: before.spec[name], after: after.spec[name] });
  return joined([
    validateJob(after),
    validateCompletions(before, after),
    ...immutableBeforeTemplate.map(unchanged),
    validateTemplate(before, after),
    ...immutableAfterTemplate.map(unchanged),
  ]);
}

/** Indexed jobs are elastic: completions may follow parallelism. */
function validateCompletions(before: Job, after: Job): readonly FieldError[] {
  const field = 'spec.completions';
  const { completions, completionMode, parallelism } = after.spec;
  if (completionMode !== 'Indexed')
    return immutableField({ field, before: before.spec.completions, after: completions });
  if (completions === before.spec.completions || completions === undefined) return [];
  return completions === parallelism
    ? []
    : [invalid(field, completions, 'can only be modified in tandem with spec.parallelism')];
}

function validateTemplate(before: Job, after: Job): readonly FieldError[] {
  const is = after.spec.template;
  if (deepEqual(before.spec.template, is)) return [];
  if (!isAtRest(before))
    return [invalid('spec.template', shownPodTemplate(is), 'field is immutable')];
  const allowed = withChangeable(before.spec.template, is);
  return deepEqual(allowed.spec, is.spec)
    ? []
    : [invalid('spec.template.spec', shownPodSpec(is.spec), 'field is immutable')];
}

/** Suspended, and no pod of it runs: a queue may change where its pods go and what they get. */
function isAtRest(job: Job): boolean {
  const { startTime, active = 0 } = job.status;
  const hasStopped = hasJobCondition(job, 'Suspended') && active === 0;
  return job.spec.suspend === true && (startTime === undefined || hasStopped);
}

/** The previous template, with what may change as it is now. */
function withChangeable(before: PodTemplateSpec, after: PodTemplateSpec): PodTemplateSpec {
  const { nodeSelector, tolerations, schedulingGates } = after.spec;
  const {
    nodeSelector: _selector,
    tolerations: _tolerations,
    schedulingGates: _gates,
    affinity,
    containers,
    initContainers,
    ...spec
  } = before.spec;
  const allowed = allowedAffinity(affinity, after.spec.affinity);
  return {
    ...after,
    spec: {
      ...spec,
      ...(nodeSelector === undefined ? {} : { nodeSelector }),
      ...(tolerations === undefined ? {} : { tolerations }),
      ...(schedulingGates === undefined ? {} : { schedulingGates }),
      ...(allowed === undefined ? {} : { affinity: allowed }),
      containers: withResources(containers ?? [], after.spec.containers ?? []),
      ...(initContainers === undefined
        ? {}
        : { initContainers: withResources(initContainers, after.spec.initContainers ?? []) }),
    },
  };
}

/** Node affinity may change, the affinity to other pods may not. */
function allowedAffinity(
  before: Affinity | undefined,
  after: Affinity | undefined,
): Affinity | undefined {
  const { nodeAffinity: _before, ...rest } = before ?? {};
  const { nodeAffinity } = after ?? {};
  if (after === undefined && Object.keys(rest).length === 0) return undefined;
  if (after === undefined && before === undefined) return undefined;
  return { ...rest, ...(nodeAffinity === undefined ? {} : { nodeAffinity }) };
}

function withResources(
  before: readonly Container[],
  after: readonly Container[],
): readonly Container[] {
  return before.map((container, index) => {
    const is = after[index];
    return is?.name === container.name ? { ...container, resources: is.resources } : container;
  });
}
