// The pod template of a workload.
import { objectMeta } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { podSpec } from '../pod/pod-spec.ts';

export const podTemplateSpec = s.struct(
  'PodTemplateSpec',
  {
    metadata: s.described(objectMeta, 'Labels and annotations of the pods.'),
    spec: s.described(podSpec, 'The wanted state of the pods.'),
  },
  { numbers: [1, 2] },
);
export type PodTemplateSpec = s.Static<typeof podTemplateSpec>;
