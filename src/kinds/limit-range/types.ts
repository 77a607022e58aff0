import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { must } from '../pod/references.ts';
import { resourceList } from '../pod/resources.ts';

const item = s.struct(
  'LimitRangeItem',
  {
    type: must(s.string('What is limited: Pod, Container or PersistentVolumeClaim.')),
    max: s.described(resourceList, 'The most that one may use, by resource.'),
    min: s.described(resourceList, 'The least that one must use, by resource.'),
    default: s.described(resourceList, 'Limits of containers that set none.'),
    defaultRequest: s.described(resourceList, 'Requests of containers that set none.'),
    maxLimitRequestRatio: s.described(
      resourceList,
      'How many times its request a limit may be, by resource.',
    ),
  },
  { numbers: [1, 2, 3, 4, 5, 6] },
);
export type LimitRangeItem = s.Static<typeof item>;

export const limitRangeSchema = s.struct(
  'LimitRange',
  {
    ...objectFields,
    spec: s.struct(
      'LimitRangeSpec',
      { limits: must(s.list(item, 'The limits, one of each type.', { listType: 'atomic' })) },
      { description: 'The limits.', numbers: [1] },
    ),
  },
  {
    description: 'Limits of the pods and claims of a namespace, and defaults for them.',
    numbers: [0, 0, 1, 2],
  },
);

export type LimitRange = KubeObject & {
  readonly spec: { readonly limits: readonly LimitRangeItem[] | null };
};
