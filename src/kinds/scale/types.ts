import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { must } from '../pod/references.ts';

const spec = s.struct(
  'ScaleSpec',
  {
    replicas: s.int32('How many pods are wanted.', { default: 0 }),
  },
  { numbers: [1] },
);

const status = s.struct(
  'ScaleStatus',
  {
    replicas: must(s.int32('How many pods there are.')),
    selector: s.string('Which pods are counted, as queries write it.'),
  },
  { numbers: [1, 2] },
);

export const scaleSchema = s.struct(
  'Scale',
  {
    ...objectFields,
    spec: s.described(spec, 'The wanted state.'),
    status: s.described(status, 'The state as last observed.'),
  },
  { description: 'The size of a workload, as an object of its own.', numbers: [0, 0, 1, 2, 3] },
);

export type Scale = KubeObject & {
  readonly spec: s.Static<typeof spec>;
  readonly status: s.Static<typeof status>;
};
