import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';

const namespaceSpec = s.struct(
  'NamespaceSpec',
  {
    finalizers: s.list(s.string(), 'The namespace stays until this list is empty.', {
      listType: 'atomic',
    }),
  },
  { numbers: [1] },
);

const namespaceCondition = s.struct(
  'NamespaceCondition',
  {
    type: s.required(s.always(s.string('What the condition is about.'))),
    status: s.required(s.always(s.string('True, False or Unknown.'))),
    lastTransitionTime: s.always(s.time('When the status last changed.')),
    reason: s.string('Reason of the last change, one word.'),
    message: s.string('Reason of the last change, for people.'),
  },
  { numbers: [1, 2, 4, 5, 6] },
);
export type NamespaceCondition = s.Static<typeof namespaceCondition>;

const namespaceStatus = s.struct(
  'NamespaceStatus',
  {
    phase: s.string('Active, or Terminating once it has been deleted.'),
    conditions: s.list(namespaceCondition, 'What stands in the way of its end.', {
      listType: 'map',
      keys: ['type'],
      mergeKey: 'type',
      patchStrategy: 'merge',
    }),
  },
  { numbers: [1, 2] },
);

export const namespaceSchema = s.struct(
  'Namespace',
  {
    ...objectFields,
    spec: s.described(namespaceSpec, 'What is wanted of the namespace.'),
    status: s.described(namespaceStatus, 'Where the namespace stands in its life.'),
  },
  {
    description: 'A room for names: objects of one kind and name may exist once in each.',
    numbers: [0, 0, 1, 2, 3],
  },
);
export type Namespace = KubeObject & s.Static<typeof namespaceSchema>;
