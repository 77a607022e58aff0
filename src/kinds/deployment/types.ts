import { labelSelector } from '../../meta/labels.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { must, timeOrNull } from '../pod/references.ts';
import { podTemplateSpec } from '../pod-template/types.ts';

const rollingUpdate = s.struct(
  'RollingUpdateDeployment',
  {
    maxUnavailable: s.pointer(s.intOrString('How many pods may be missing; 25% when absent.')),
    maxSurge: s.pointer(s.intOrString('How many pods may be too many; 25% when absent.')),
  },
  { numbers: [1, 2] },
);
export type RollingUpdate = s.Static<typeof rollingUpdate>;

const deploymentStrategy = s.struct(
  'DeploymentStrategy',
  {
    type: s.string('RollingUpdate or Recreate.'),
    rollingUpdate: s.pointer(rollingUpdate, 'How far a rolling update goes at a time.'),
  },
  { numbers: [1, 2] },
);
export type DeploymentStrategy = s.Static<typeof deploymentStrategy>;

const spec = s.struct(
  'DeploymentSpec',
  {
    replicas: s.pointer(s.int32('How many pods are wanted; 1 when absent.')),
    selector: s.required(s.pointer(labelSelector, 'Which pods belong here. Cannot change.')),
    template: s.required(s.described(podTemplateSpec, 'What the pods look like.')),
    strategy: s.described(deploymentStrategy, {
      description: 'How old pods are replaced by new ones.',
      patchStrategy: 'retainKeys',
    }),
    minReadySeconds: s.int32('How long a new pod must be ready to count as available.'),
    revisionHistoryLimit: s.pointer(
      s.int32('Old replica sets kept for going back; 10 when absent.'),
    ),
    paused: s.boolean('Changes of the template are not rolled out.'),
    progressDeadlineSeconds: s.pointer(
      s.int32('When a rollout without progress counts as failed; 600 when absent.'),
    ),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 9] },
);
export type DeploymentSpec = s.Static<typeof spec>;

const condition = s.struct(
  'DeploymentCondition',
  {
    type: must(s.string('Name of the condition.')),
    status: must(s.string('True, False or Unknown.')),
    lastUpdateTime: timeOrNull('When the condition was last written.'),
    lastTransitionTime: timeOrNull('When its status last changed.'),
    reason: s.string('Why, in one word.'),
    message: s.string('Why, for people.'),
  },
  { numbers: [1, 2, 6, 7, 4, 5] },
);
export type DeploymentCondition = s.Static<typeof condition>;

const status = s.struct(
  'DeploymentStatus',
  {
    observedGeneration: s.int64('Generation of the spec that the status speaks of.'),
    replicas: s.int32('Pods that exist.'),
    updatedReplicas: s.int32('Pods of the current template.'),
    readyReplicas: s.int32('Pods that are ready.'),
    availableReplicas: s.int32('Pods that have been ready for minReadySeconds.'),
    unavailableReplicas: s.int32('Pods that are missing to be fully available.'),
    terminatingReplicas: s.pointer(s.int32('Pods that are on their way out.')),
    conditions: s.list(condition, 'Conditions.', {
      listType: 'map',
      keys: ['type'],
      mergeKey: 'type',
      patchStrategy: 'merge',
    }),
    collisionCount: s.pointer(s.int32('Hash collisions met when naming replica sets.')),
  },
  { numbers: [1, 2, 3, 7, 4, 5, 9, 6, 8] },
);
export type DeploymentStatus = s.Static<typeof status>;

export const deploymentSchema = s.struct(
  'Deployment',
  {
    ...objectFields,
    spec: s.described(spec, 'The wanted state.'),
    status: s.described(status, 'The state as last observed.'),
  },
  {
    description:
      'Keeps a number of equal pods running and replaces them step by step when the template changes.',
    numbers: [0, 0, 1, 2, 3],
  },
);

export type Deployment = KubeObject & {
  readonly spec: DeploymentSpec;
  readonly status: DeploymentStatus;
};
