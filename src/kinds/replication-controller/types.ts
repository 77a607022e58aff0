import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { podTemplateSpec } from '../pod-template/types.ts';
import { observedFields, replicaCounts } from '../replica-set/replica-fields.ts';

const spec = s.struct(
  'ReplicationControllerSpec',
  {
    replicas: s.pointer(s.int32('How many pods are wanted; 1 when absent.', { default: 1 })),
    minReadySeconds: s.int32('How long a new pod must be ready to count as available.', {
      default: 0,
    }),
    selector: s.map(s.string(), 'Labels of the pods counted; those of the template when absent.', {
      mapType: 'atomic',
    }),
    template: s.pointer(podTemplateSpec, 'What new pods look like.'),
  },
  { numbers: [1, 4, 2, 3] },
);

const status = s.struct(
  'ReplicationControllerStatus',
  {
    ...replicaCounts,
    ...observedFields('ReplicationControllerCondition'),
  },
  { numbers: [1, 2, 4, 5, 3, 6] },
);

export const replicationControllerSchema = s.struct(
  'ReplicationController',
  {
    ...objectFields,
    spec: s.described(spec, 'The wanted state.'),
    status: s.described(status, 'The state as last observed.'),
  },
  {
    description: 'Keeps a number of equal pods running; ReplicaSets have taken its place.',
    numbers: [0, 0, 1, 2, 3],
  },
);

export type ReplicationController = KubeObject & {
  readonly spec: s.Static<typeof spec>;
  readonly status: s.Static<typeof status>;
};
