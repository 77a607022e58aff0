// The order in which pods are deleted when there are too many. Upstream: ActivePodsWithRanks in
// pkg/controller/controller_utils.go.

import { podDeletionCostAnnotation } from '../../meta/well-known-annotations.ts';
import { parseTime } from '../../schema/time.ts';
import type { ContainerStatus } from './pod-status.ts';
import { isRestartableInitContainer } from './ports.ts';
import { isPodReady, podCondition } from './readiness.ts';
import type { Pod } from './types.ts';

export type RankedPod = {
  readonly pod: Pod;
  /** Number of related pods on the same node. */
  readonly companions: number;
};

/** Negative when the first pod is deleted before the second. */
type Comparison = (a: RankedPod, b: RankedPod, now: number) => number;

const comparisons: readonly Comparison[] = [
  // Unscheduled pods first.
  (a, b) => Number(hasNode(a.pod)) - Number(hasNode(b.pod)),
  (a, b) => phaseOrder(a.pod) - phaseOrder(b.pod),
  (a, b) => Number(isPodReady(a.pod)) - Number(isPodReady(b.pod)),
  (a, b) => deletionCost(a.pod) - deletionCost(b.pod),
  // Nodes with the most related pods first, so that the rest stays spread.
  (a, b) => b.companions - a.companions,
  (a, b, now) =>
    isPodReady(a.pod) && isPodReady(b.pod)
      ? byTime(readyTime(a.pod), readyTime(b.pod), a, b, now)
      : 0,
  (a, b) => compareRestarts(a.pod, b.pod),
  (a, b, now) => byTime(createdTime(a.pod), createdTime(b.pod), a, b, now),
];

export function rankVictims(pods: readonly RankedPod[], now: number): readonly Pod[] {
  const compare = (a: RankedPod, b: RankedPod): number => {
    for (const comparison of comparisons) {
      const order = comparison(a, b, now);
      if (order !== 0) return order;
    }
    return 0;
  };
  return [...pods].sort(compare).map(({ pod }) => pod);
}

const hasNode = ({ spec }: Pod): boolean => Boolean(spec.nodeName);

const phases = ['Pending', 'Unknown', 'Running'];
const phaseOrder = ({ status }: Pod): number => phases.indexOf(status.phase ?? '');

function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[podDeletionCostAnnotation] ?? '0';
  return /^(0|-?[1-9][0-9]*)$/.test(text) ? Number(text) : 0;
}

const readyTime = (pod: Pod): number | undefined => {
  const time = podCondition(pod, 'Ready')?.lastTransitionTime;
  return time ? parseTime(time) : undefined;
};
const createdTime = ({ metadata }: Pod): number | undefined =>
  metadata.creationTimestamp === undefined ? undefined : parseTime(metadata.creationTimestamp);

/**
 * Younger pods first, but ages of the same order of magnitude count as equal: among those the UID decides, which is as
 * good as random, so that not always the pods of the last rollout are deleted.
 */
function byTime(
  first: number | undefined,
  second: number | undefined,
  a: RankedPod,
  b: RankedPod,
  now: number,
): number {
  if (first === second) return 0;
  if (first === undefined) return -1;
  if (second === undefined) return 1;
  const order = magnitude(now - first) - magnitude(now - second);
  if (order !== 0) return order;
  return (a.pod.metadata.uid ?? '') < (b.pod.metadata.uid ?? '') ? -1 : 1;
}

/** The order of magnitude: log2 of nanoseconds, as upstream. */
const magnitude = (ageMs: number): number =>
  ageMs <= 0 ? -1 : Math.trunc(Math.log2(ageMs * 1_000_000));

/** More restarts first; init containers with restartPolicy Always count when the others are equal. */
function compareRestarts(a: Pod, b: Pod): number {
  return (
    maxRestarts(b.status.containerStatuses) - maxRestarts(a.status.containerStatuses) ||
    maxRestarts(sidecars(b)) - maxRestarts(sidecars(a))
  );
}

function sidecars({ spec, status }: Pod): readonly ContainerStatus[] {
  const names = (spec.initContainers ?? [])
    .filter(isRestartableInitContainer)
    .map(({ name }) => name);
  return (status.initContainerStatuses ?? []).filter(({ name }) => names.includes(name));
}

function maxRestarts(statuses: readonly ContainerStatus[] = []): number {
  return Math.max(0, ...statuses.map(({ restartCount }) => restartCount));
}
