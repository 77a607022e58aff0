import { labelSelector } from '../../meta/labels.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { must, timeOrNull } from '../pod/references.ts';
import { podTemplateSpec } from '../pod-template/types.ts';

const rollingUpdate = s.struct(
  'RollingUpdateDaemonSet',
  {
    maxUnavailable: s.pointer(
      s.intOrString(
        'How many nodes may be without an available pod during an update; 1 when absent.',
      ),
    ),
    maxSurge: s.pointer(
      s.intOrString('How many nodes may have an old and a new pod at once; 0 when absent.'),
    ),
  },
  { numbers: [1, 2] },
);
export type RollingUpdateDaemonSet = s.Static<typeof rollingUpdate>;

const updateStrategy = s.struct(
  'DaemonSetUpdateStrategy',
  {
    type: s.string('RollingUpdate or OnDelete.'),
    rollingUpdate: s.pointer(rollingUpdate, 'How far a rolling update goes at a time.'),
  },
  { numbers: [1, 2] },
);
export type DaemonSetUpdateStrategy = s.Static<typeof updateStrategy>;

const spec = s.struct(
  'DaemonSetSpec',
  {
    selector: s.required(s.pointer(labelSelector, 'Which pods belong here. Cannot change.')),
    template: s.required(s.described(podTemplateSpec, 'What the pods look like.')),
    updateStrategy: s.described(updateStrategy, 'How old pods are replaced by new ones.'),
    minReadySeconds: s.int32('How long a new pod must be ready to count as available.'),
    revisionHistoryLimit: s.pointer(
      s.int32('Old revisions retained for rollbacks; 10 when absent.'),
    ),
  },
  { numbers: [1, 2, 3, 4, 6] },
);
export type DaemonSetSpec = s.Static<typeof spec>;

const condition = s.struct(
  'DaemonSetCondition',
  {
    type: must(s.string('Name of the condition.')),
    status: must(s.string('True, False or Unknown.')),
    lastTransitionTime: timeOrNull('When its status last changed.'),
    reason: s.string('Why, in one word.'),
    message: s.string('Why, for people.'),
  },
  { numbers: [1, 2, 3, 4, 5] },
);

const status = s.struct(
  'DaemonSetStatus',
  {
    currentNumberScheduled: must(s.int32('Nodes that have a pod and should.')),
    numberMisscheduled: must(s.int32('Nodes that have a pod and should not.')),
    desiredNumberScheduled: must(s.int32('Nodes that should have a pod.')),
    numberReady: must(s.int32('Nodes that should have a pod and have a ready one.')),
    observedGeneration: s.int64('Generation of the spec that the status speaks of.'),
    updatedNumberScheduled: s.int32('Nodes that have a pod of the current template.'),
    numberAvailable: s.int32('Nodes whose pod has been ready for minReadySeconds.'),
    numberUnavailable: s.int32('Nodes that should have an available pod and have none.'),
    collisionCount: s.pointer(s.int32('Hash collisions met when naming revisions.')),
    conditions: s.list(condition, 'Conditions.', {
      listType: 'map',
      keys: ['type'],
      mergeKey: 'type',
      patchStrategy: 'merge',
    }),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] },
);
export type DaemonSetStatus = s.Static<typeof status>;

export const daemonSetSchema = s.struct(
  'DaemonSet',
  {
    ...objectFields,
    spec: s.described(spec, 'The wanted state.'),
    status: s.described(status, 'The state as last observed.'),
  },
  {
    description: 'Runs one pod on every node that the template fits.',
    numbers: [0, 0, 1, 2, 3],
  },
);

export type DaemonSet = KubeObject & {
  readonly spec: DaemonSetSpec;
  readonly status: DaemonSetStatus;
};
