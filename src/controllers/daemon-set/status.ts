// The status of a daemon set. Upstream: updateDaemonSetStatus() in pkg/controller/daemon.
import type { DaemonSet, DaemonSetStatus } from '../../kinds/daemon-set/types.ts';
import { availableIn, isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { deepEqual } from '../../schema/equality.ts';
import { isUpdated } from './daemon-pod.ts';
import { byAge, type DaemonSituation, podsByNode } from './desired.ts';
import { fitOfNode } from './node-fit.ts';

/** The same object when nothing changes. */
export function desiredStatus(situation: Omit<DaemonSituation, 'backOffOf'>): DaemonSetStatus {
  const { set, nodes } = situation;
  const byNode = podsByNode(situation.pods);
  const misscheduled: Pod[] = [];
  const scheduled: Pod[] = [];
  let desired = 0;
  for (const node of nodes) {
    const pod = oldestOf(byNode.get(node.metadata.name ?? ''));
    const { shouldRun } = fitOfNode(set, node);
    if (shouldRun) desired += 1;
    if (pod !== undefined) (shouldRun ? scheduled : misscheduled).push(pod);
  }
  const status = withCounts(set, {
    desired,
    misscheduled: misscheduled.length,
    ...countPods(situation, scheduled),
  });
  return deepEqual(status, set.status) ? set.status : status;
}

function countPods(
  { set, hash, now }: Omit<DaemonSituation, 'backOffOf'>,
  pods: readonly Pod[],
): Omit<Counts, 'desired' | 'misscheduled'> {
  const minReady = set.spec.minReadySeconds ?? 0;
  return {
    current: pods.length,
    ready: pods.filter(isPodReady).length,
    available: pods.filter((pod) => availableIn(pod, minReady, now) === 0).length,
    updated: pods.filter((pod) => isUpdated(pod, set, hash)).length,
  };
}

function oldestOf(pods: readonly Pod[] = []): Pod | undefined {
  return pods.toSorted(byAge)[0];
}

type Counts = Readonly<
  Record<'desired' | 'current' | 'misscheduled' | 'ready' | 'available' | 'updated', number>
>;

function withCounts({ metadata, status }: DaemonSet, counts: Counts): DaemonSetStatus {
  const { generation = 0 } = metadata;
  const { collisionCount, conditions } = status;
  const unavailable = counts.desired - counts.available;
  return {
    currentNumberScheduled: counts.current,
    numberMisscheduled: counts.misscheduled,
    desiredNumberScheduled: counts.desired,
    numberReady: counts.ready,
    ...(generation === 0 ? {} : { observedGeneration: generation }),
    ...(counts.updated === 0 ? {} : { updatedNumberScheduled: counts.updated }),
    ...(counts.available === 0 ? {} : { numberAvailable: counts.available }),
    ...(unavailable === 0 ? {} : { numberUnavailable: unavailable }),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    ...(conditions === undefined ? {} : { conditions }),
  };
}

/** When the next pod becomes available without a further change. */
export function nextAvailableMs(
  { spec }: DaemonSet,
  pods: readonly Pod[],
  now: number,
): number | undefined {
  const waits = pods
    .map((pod) => availableIn(pod, spec.minReadySeconds ?? 0, now) ?? 0)
    .filter((wait) => wait > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}
