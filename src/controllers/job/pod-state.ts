// What a pod of a job is to it: its index, whether it has failed, when it finished.

import {
  indexFailureCountAnnotation,
  indexIgnoredFailureCountAnnotation,
  jobTrackingFinalizer,
} from '../../kinds/job/names.ts';
import type { Job } from '../../kinds/job/types.ts';
import { isActive } from '../../kinds/pod/activity.ts';
import type { ContainerStatus } from '../../kinds/pod/pod-status.ts';
import { podCondition } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { completionIndexKey } from '../../meta/well-known-labels.ts';
import { parseTime } from '../../schema/time.ts';

export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(jobTrackingFinalizer) ?? false;
}

/** Annotations are the client's: a number of up to ten digits, or none. */
function countAnnotation({ metadata }: Pod, key: string): number | undefined {
  const text = metadata.annotations?.[key];
  return text !== undefined && /^[0-9]{1,10}$/.test(text) ? Number(text) : undefined;
}

/** Read once of each object: a sync of a large job needs it many times. */
const indexes = new WeakMap<Pod, number>();
const noIndex = -1;

export function completionIndex(pod: Pod): number | undefined {
  let index = indexes.get(pod);
  if (index === undefined) {
    index = countAnnotation(pod, completionIndexKey) ?? noIndex;
    indexes.set(pod, index);
  }
  return index === noIndex ? undefined : index;
}

export type IndexFailures = { readonly counted: number; readonly ignored: number };

/** Failures of the index before this pod. */
export function indexFailures(pod: Pod): IndexFailures {
  return {
    counted: countAnnotation(pod, indexFailureCountAnnotation) ?? 0,
    ignored: countAnnotation(pod, indexIgnoredFailureCountAnnotation) ?? 0,
  };
}

/** A pod that is on its way out counts as failed, unless only failed pods are replaced. */
export function isPodFailed({ metadata, status }: Pod, { spec }: Job): boolean {
  if (status.phase === 'Failed') return true;
  if (spec.podReplacementPolicy === 'Failed') return false;
  return metadata.deletionTimestamp !== undefined && status.phase !== 'Succeeded';
}

/** The last end of its containers, else when it ceased to be ready, else when it was deleted or created. */
export function finishedTime(pod: Pod): number {
  const { metadata, status } = pod;
  const ready = podCondition(pod, 'Ready');
  return (
    containersFinished([
      ...(status.initContainerStatuses ?? []),
      ...(status.containerStatuses ?? []),
    ]) ??
    (ready?.status === 'False' ? parseTime(ready.lastTransitionTime ?? '') : undefined) ??
    deletionStart(pod) ??
    parseTime(metadata.creationTimestamp ?? '') ??
    0
  );
}

function deletionStart({ metadata }: Pod): number | undefined {
  const end = parseTime(metadata.deletionTimestamp ?? '');
  return end === undefined ? undefined : end - (metadata.deletionGracePeriodSeconds ?? 0) * 1000;
}

/** Undefined while one of them has not ended. */
function containersFinished(statuses: readonly ContainerStatus[]): number | undefined {
  let last: number | undefined;
  for (const { state } of statuses) {
    const ended = parseTime(state.terminated?.finishedAt ?? '');
    if (ended === undefined) return undefined;
    last = Math.max(last ?? 0, ended);
  }
  return last;
}

/** The restarts of containers in pods that are not finished. */
export function totalRestarts(pods: readonly Pod[]): number {
  return pods
    .filter(({ status }) => status.phase === 'Running' || status.phase === 'Pending')
    .flatMap(({ status }) => [
      ...(status.initContainerStatuses ?? []),
      ...(status.containerStatuses ?? []),
    ])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
}

export const activeIndexes = (pods: readonly Pod[]): ReadonlySet<number> =>
  new Set(pods.filter(isActive).flatMap((pod) => completionIndex(pod) ?? []));
