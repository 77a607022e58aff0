// What replica sets and replication controllers have in common: a number of replicas of one template.
import type { PodTemplateSpec } from '../../kinds/pod-template/types.ts';
import type { ReplicaSetStatus } from '../../kinds/replica-set/types.ts';
import type { KubeObject } from '../../meta/object.ts';

/** A replication controller's status has the same fields except terminatingReplicas. */
export type ReplicaOwner = KubeObject & {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly template?: PodTemplateSpec;
  };
  readonly status: ReplicaSetStatus;
};
