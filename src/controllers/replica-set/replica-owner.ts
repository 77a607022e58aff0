// What replica sets and replication controllers have in common: they keep a number of pods of one template.
import type { PodTemplateSpec } from '../../kinds/pod-template/types.ts';
import type { ReplicaSetStatus } from '../../kinds/replica-set/types.ts';
import type { KubeObject } from '../../meta/object.ts';

/** The status of a replication controller has the same fields but for terminatingReplicas. */
export type ReplicaOwner = KubeObject & {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly template?: PodTemplateSpec;
  };
  readonly status: ReplicaSetStatus;
};
