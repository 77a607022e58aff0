// The status of a replica set or replication controller. Upstream: calculateStatus() in pkg/controller/replicaset.
import { availableIn, isPodReady } from '../../kinds/pod/readiness.ts';
import type { Pod } from '../../kinds/pod/types.ts';
import type { ReplicaSetStatus } from '../../kinds/replica-set/types.ts';
import { matchesSelector, selectorFromMap } from '../../meta/labels.ts';
import { deepEqual } from '../../schema/equality.ts';
import { formatTime } from '../../schema/time.ts';
import type { ReplicaOwner } from './replica-owner.ts';

export type StatusSituation = {
  readonly owner: ReplicaOwner;
  readonly pods: readonly Pod[];
  /** Absent for kinds without terminatingReplicas. */
  readonly terminating?: readonly Pod[];
  /** The failure of this sync's creations or deletions. */
  readonly failure?: ReplicaFailure;
  readonly now: number;
};

export type ReplicaFailure = {
  readonly reason: 'FailedCreate' | 'FailedDelete';
  readonly message: string;
};

const failureType = 'ReplicaFailure';

/** The same object when nothing changes. */
export function desiredStatus(situation: StatusSituation): ReplicaSetStatus {
  const { owner, pods, terminating } = situation;
  const { generation = 0 } = owner.metadata;
  const labels = selectorFromMap(owner.spec.template?.metadata.labels);
  const conditions = desiredConditions(situation);
  const minReady = owner.spec.minReadySeconds ?? 0;
  const status: ReplicaSetStatus = {
    replicas: pods.length,
    ...count(
      'fullyLabeledReplicas',
      pods.filter(({ metadata }) => matchesSelector(labels, metadata.labels)),
    ),
    ...count('readyReplicas', pods.filter(isPodReady)),
    ...count(
      'availableReplicas',
      pods.filter((pod) => availableIn(pod, minReady, situation.now) === 0),
    ),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating.length }),
    ...(generation === 0 ? {} : { observedGeneration: generation }),
    ...(conditions.length === 0 ? {} : { conditions }),
  };
  return deepEqual(status, owner.status) ? owner.status : status;
}

/** Zeros are omitted, as Go's omitempty does. */
function count<K extends string>(name: K, pods: readonly Pod[]): { readonly [N in K]?: number } {
  return pods.length === 0 ? {} : ({ [name]: pods.length } as { readonly [N in K]?: number });
}

function desiredConditions({ owner, failure, now }: StatusSituation) {
  const conditions = owner.status.conditions ?? [];
  const others = conditions.filter(({ type }) => type !== failureType);
  if (failure === undefined) return others;
  // The first failure stays until there is none: messages of later ones differ in little but their time.
  if (others.length < conditions.length) return conditions;
  const condition = {
    type: failureType,
    status: 'True',
    lastTransitionTime: formatTime(now),
    ...failure,
  };
  return [...others, condition];
}

/** When the next pod becomes available without a further change. */
export function nextAvailableMs(
  owner: ReplicaOwner,
  pods: readonly Pod[],
  now: number,
): number | undefined {
  const minReady = owner.spec.minReadySeconds ?? 0;
  const waits = pods.map((pod) => availableIn(pod, minReady, now) ?? 0).filter((wait) => wait > 0);
  return waits.length === 0 ? undefined : Math.min(...waits);
}
