import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { must } from '../pod/references.ts';

export const controllerRevisionSchema = s.struct(
  'ControllerRevision',
  {
    ...objectFields,
    data: s.pointer(s.any('The state, as a patch of the object that it belongs to.')),
    revision: must(s.int64('Its number; the highest is the latest.')),
  },
  {
    description: 'An earlier state of a StatefulSet or DaemonSet, to which it can be rolled back.',
    numbers: [0, 0, 1, 2, 3],
  },
);

export type ControllerRevision = KubeObject & {
  readonly data?: unknown;
  readonly revision: number;
};
