// The pods that a job creates.
import {
  indexFailureCountAnnotation,
  indexIgnoredFailureCountAnnotation,
  jobTrackingFinalizer,
} from '../../kinds/job/names.ts';
import type { Job } from '../../kinds/job/types.ts';
import type { Container } from '../../kinds/pod/container.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { podFromTemplate } from '../../kinds/pod-template/pod-from-template.ts';
import { completionIndexKey } from '../../meta/well-known-labels.ts';
import { matchFailurePolicy } from './failure-policy.ts';
import { indexFailures } from './pod-state.ts';

/** Of a generated name, before the random letters. */
const maxPrefixLength = 58;

/** `replaced`: the last failed pod of the index, where failures of an index are limited. */
export function newPod(job: Job, index: number | undefined, replaced: Pod | undefined): Pod {
  const pod = podFromTemplate(job, job.spec.template);
  const { finalizers = [] } = pod.metadata;
  const tracked: Pod = {
    ...pod,
    metadata: {
      ...pod.metadata,
      finalizers: finalizers.includes(jobTrackingFinalizer)
        ? finalizers
        : [...finalizers, jobTrackingFinalizer],
    },
  };
  return index === undefined ? tracked : withIndex(job, tracked, index, replaced);
}

function withIndex(job: Job, pod: Pod, index: number, replaced: Pod | undefined): Pod {
  const { name = '' } = job.metadata;
  const { metadata, spec } = pod;
  const { initContainers } = spec;
  const suffix = `-${index}-`;
  const prefix = name.slice(0, maxPrefixLength - suffix.length);
  return {
    ...pod,
    metadata: {
      ...metadata,
      generateName: `${prefix}${suffix}`,
      labels: { ...metadata.labels, [completionIndexKey]: String(index) },
      annotations: {
        ...metadata.annotations,
        [completionIndexKey]: String(index),
        ...(job.spec.backoffLimitPerIndex === undefined ? {} : failureCounts(job, replaced)),
      },
    },
    spec: {
      ...spec,
      // Under a headless Service the pod is found by this name.
      hostname: `${name}-${index}`,
      ...(initContainers === undefined
        ? {}
        : { initContainers: initContainers.map(withIndexVariable) }),
      containers: (spec.containers ?? []).map(withIndexVariable),
    },
  };
}

function failureCounts(job: Job, replaced: Pod | undefined): Readonly<Record<string, string>> {
  if (replaced === undefined) return { [indexFailureCountAnnotation]: '0' };
  const { counted, ignored } = indexFailures(replaced);
  const { counts } = matchFailurePolicy(job, replaced);
  const ignoredNow = ignored + (counts ? 0 : 1);
  return {
    [indexFailureCountAnnotation]: String(counted + (counts ? 1 : 0)),
    ...(ignoredNow === 0 ? {} : { [indexIgnoredFailureCountAnnotation]: String(ignoredNow) }),
  };
}

const indexVariable = 'JOB_COMPLETION_INDEX';

/** A variable of the template's own stays. */
function withIndexVariable(container: Container): Container {
  const { env = [] } = container;
  if (env.some(({ name }) => name === indexVariable)) return container;
  const fieldRef = { apiVersion: 'v1', fieldPath: `metadata.labels['${completionIndexKey}']` };
  return { ...container, env: [...env, { name: indexVariable, valueFrom: { fieldRef } }] };
}
