import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { type PodSpec, podSpec } from './pod-spec.ts';
import { type PodStatus, podStatus } from './pod-status.ts';

export const podSchema = s.struct(
  'Pod',
  {
    ...objectFields,
    spec: s.described(podSpec, 'The wanted state.'),
    status: s.described(podStatus, 'The state as last reported.'),
  },
  {
    description: 'Containers that run together on one node and share its network address.',
    numbers: [0, 0, 1, 2, 3],
  },
);

export type Pod = KubeObject & { readonly spec: PodSpec; readonly status: PodStatus };
