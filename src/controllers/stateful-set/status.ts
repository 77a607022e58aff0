// The status of a stateful set. Upstream: computeReplicaStatus() and completeRollingUpdate() in pkg/controller/statefulset.
import { availableIn, isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import { replicasOf } from '../../kinds/stateful-set/members.ts';
import type { StatefulSet, StatefulSetStatus } from '../../kinds/stateful-set/types.ts';
import { deepEqual } from '../../schema/equality.ts';
import { isLeaving, isRunningAndAvailable, isRunningAndReady, revisionOf } from './member-pod.ts';

export type StatusSituation = {
  readonly set: StatefulSet;
  readonly pods: readonly Pod[];
  /** Names of revisions. */
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly collisionCount: number;
  readonly now: number;
};

/** The same object when nothing changes. */
export function desiredStatus(situation: StatusSituation): StatefulSetStatus {
  const { set, pods, updateRevision, collisionCount, now } = situation;
  const ready = pods.filter(isRunningAndReady).length;
  const staying = pods.filter((pod) => !isLeaving(pod));
  const countOf = (revision: string): number =>
    staying.filter((pod) => revisionOf(pod) === revision).length;
  const updated = countOf(updateRevision);
  // A roll-out ends when all pods are of the update and ready.
  const isComplete =
    set.spec.updateStrategy.type === 'RollingUpdate' &&
    [updated, ready, pods.length].every((count) => count === replicasOf(set));
  const currentRevision = isComplete ? updateRevision : situation.currentRevision;
  const { generation = 0 } = set.metadata;
  const { conditions } = set.status;
  const status: StatefulSetStatus = {
    ...(generation === 0 ? {} : { observedGeneration: generation }),
    replicas: pods.length,
    ...counted('readyReplicas', ready),
    ...counted('currentReplicas', isComplete ? updated : countOf(currentRevision)),
    ...counted('updatedReplicas', updated),
    currentRevision,
    updateRevision,
    collisionCount,
    ...(conditions === undefined ? {} : { conditions }),
    availableReplicas: pods.filter((pod) => isRunningAndAvailable(pod, set, now)).length,
  };
  return deepEqual(status, set.status) ? set.status : status;
}

/** Zeros are omitted, as Go's omitempty does. */
function counted<K extends string>(name: K, count: number): { readonly [N in K]?: number } {
  return count === 0 ? {} : ({ [name]: count } as { readonly [N in K]?: number });
}

/** When the next pod becomes available without a further change. */
export function nextAvailableMs(
  { spec }: StatefulSet,
  pods: readonly Pod[],
  now: number,
): number | undefined {
  const waits = pods
    .filter(isPodReady)
    .map((pod) => availableIn(pod, spec.minReadySeconds ?? 0, now) ?? 0)
    .filter((wait) => wait > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}
