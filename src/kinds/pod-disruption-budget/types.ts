import { condition } from '../../meta/conditions.ts';
import { labelSelector } from '../../meta/labels.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { must } from '../pod/references.ts';

const spec = s.struct(
  'PodDisruptionBudgetSpec',
  {
    minAvailable: s.pointer(s.intOrString('How many pods must stay available, or which share.')),
    selector: s.pointer(labelSelector, {
      description: 'Which pods the budget protects; an empty selector means all of the namespace.',
      patchStrategy: 'replace',
    }),
    maxUnavailable: s.pointer(s.intOrString('How many pods may be unavailable, or which share.')),
    unhealthyPodEvictionPolicy: s.pointer(
      s.string('When pods that are not ready may be evicted: IfHealthyBudget or AlwaysAllow.'),
    ),
  },
  { numbers: [1, 2, 3, 4] },
);
export type PodDisruptionBudgetSpec = s.Static<typeof spec>;

const status = s.struct(
  'PodDisruptionBudgetStatus',
  {
    observedGeneration: s.int64('Generation of the spec that the status speaks of.'),
    disruptedPods: s.map(
      s.time(),
      'Pods that were evicted and have not gone yet, and when they were.',
    ),
    disruptionsAllowed: must(s.int32('How many pods may be evicted now.')),
    currentHealthy: must(s.int32('Pods that are ready.')),
    desiredHealthy: must(s.int32('Pods that must be ready at least.')),
    expectedPods: must(s.int32('Pods that are counted.')),
    conditions: s.list(condition, 'Conditions.', {
      listType: 'map',
      keys: ['type'],
      mergeKey: 'type',
      patchStrategy: 'merge',
    }),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7] },
);
export type PodDisruptionBudgetStatus = s.Static<typeof status>;

export const podDisruptionBudgetSchema = s.struct(
  'PodDisruptionBudget',
  {
    ...objectFields,
    spec: s.described(spec, 'The wanted state.'),
    status: s.described(status, 'The state as last observed.'),
  },
  {
    description: 'Limits how many pods of a set are evicted at a time.',
    numbers: [0, 0, 1, 2, 3],
  },
);

export type PodDisruptionBudget = KubeObject & {
  readonly spec: PodDisruptionBudgetSpec;
  readonly status: PodDisruptionBudgetStatus;
};
