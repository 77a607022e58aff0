import { labelSelector } from '../../meta/labels.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { podTemplateSpec } from '../pod-template/types.ts';
import { observedFields, replicaCounts } from './replica-fields.ts';

const spec = s.struct(
  'ReplicaSetSpec',
  {
    replicas: s.pointer(s.int32('How many pods are wanted; 1 when absent.')),
    minReadySeconds: s.int32('How long a new pod must be ready to count as available.'),
    selector: s.required(s.pointer(labelSelector, 'Which pods are counted. Cannot change.')),
    template: s.described(podTemplateSpec, 'What new pods look like.'),
  },
  { numbers: [1, 4, 2, 3] },
);

const replicaSetStatus = s.struct(
  'ReplicaSetStatus',
  {
    ...replicaCounts,
    terminatingReplicas: s.pointer(s.int32('Pods that are on their way out.')),
    ...observedFields('ReplicaSetCondition'),
  },
  { numbers: [1, 2, 4, 5, 7, 3, 6] },
);
export type ReplicaSetStatus = s.Static<typeof replicaSetStatus>;

export const replicaSetSchema = s.struct(
  'ReplicaSet',
  {
    ...objectFields,
    spec: s.described(spec, 'The wanted state.'),
    status: s.described(replicaSetStatus, 'The state as last observed.'),
  },
  {
    description: 'Keeps a number of equal pods running. Deployments make and manage these.',
    numbers: [0, 0, 1, 2, 3],
  },
);

export type ReplicaSetSpec = s.Static<typeof spec>;
export type ReplicaSet = KubeObject & {
  readonly spec: ReplicaSetSpec;
  readonly status: ReplicaSetStatus;
};
