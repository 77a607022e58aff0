import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { must } from '../pod/references.ts';

export const priorityClassSchema = s.struct(
  'PriorityClass',
  {
    ...objectFields,
    value: must(s.int32('The priority of pods of this class. Cannot change.')),
    globalDefault: s.boolean('Pods without a class get this one. At most one class is.'),
    description: s.string('When this class should be used.'),
    preemptionPolicy: s.pointer(
      s.string('Whether its pods displace others: PreemptLowerPriority or Never.'),
    ),
  },
  {
    description: 'A name for the priority of pods.',
    numbers: [0, 0, 1, 2, 3, 4, 5],
  },
);

export type PriorityClass = KubeObject & s.Static<typeof priorityClassSchema>;
