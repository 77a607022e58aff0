// Status fields of replica sets and replication controllers.
import * as s from '../../schema/node.ts';
import { must, timeOrNull } from '../pod/references.ts';

export const replicaCounts = {
  replicas: must(s.int32('Pods that exist.')),
  fullyLabeledReplicas: s.int32('Pods that have all labels of the template.'),
  readyReplicas: s.int32('Pods that are ready.'),
  availableReplicas: s.int32('Pods that have been ready for minReadySeconds.'),
};

/** Each kind has a Go name of its own for its conditions. */
export function observedFields(conditionName: string) {
  const condition = s.struct(
    conditionName,
    {
      type: must(s.string('Name of the condition.')),
      status: must(s.string('True, False or Unknown.')),
      lastTransitionTime: timeOrNull('When its status last changed.'),
      reason: s.string('Why, in one word.'),
      message: s.string('Why, for people.'),
    },
    { numbers: [1, 2, 3, 4, 5] },
  );
  return {
    observedGeneration: s.int64('Generation of the spec that the status speaks of.'),
    conditions: s.list(condition, 'Conditions.', {
      listType: 'map',
      keys: ['type'],
      mergeKey: 'type',
      patchStrategy: 'merge',
    }),
  };
}
