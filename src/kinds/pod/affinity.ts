// Node and pod affinity, tolerations, topology spread constraints.
import { labelSelector } from '../../meta/labels.ts';
import * as s from '../../schema/node.ts';
import { must } from './references.ts';

const nodeSelectorRequirement = s.struct(
  'NodeSelectorRequirement',
  {
    key: must(s.string('Label or field.')),
    operator: must(s.string('In, NotIn, Exists, DoesNotExist, Gt or Lt.')),
    values: s.list(s.string(), 'Values to compare with.', { listType: 'atomic' }),
  },
  { numbers: [1, 2, 3] },
);
export type NodeSelectorRequirement = s.Static<typeof nodeSelectorRequirement>;

export const nodeSelectorTerm = s.struct(
  'NodeSelectorTerm',
  {
    matchExpressions: s.list(nodeSelectorRequirement, 'What the labels must be.', {
      listType: 'atomic',
    }),
    matchFields: s.list(nodeSelectorRequirement, 'What the fields must be.', {
      listType: 'atomic',
    }),
  },
  { mapType: 'atomic', numbers: [1, 2] },
);
export type NodeSelectorTerm = s.Static<typeof nodeSelectorTerm>;

export const nodeSelector = s.struct(
  'NodeSelector',
  {
    nodeSelectorTerms: must(
      s.list(nodeSelectorTerm, 'A node fits when one of them does.', { listType: 'atomic' }),
    ),
  },
  { mapType: 'atomic', numbers: [1] },
);
export type NodeSelector = s.Static<typeof nodeSelector>;

const nodeAffinity = s.struct(
  'NodeAffinity',
  {
    requiredDuringSchedulingIgnoredDuringExecution: s.pointer(nodeSelector, 'Nodes that can do.'),
    preferredDuringSchedulingIgnoredDuringExecution: s.list(
      s.struct(
        'PreferredSchedulingTerm',
        {
          weight: must(s.int32('How much it counts, 1 to 100.')),
          preference: must(s.described(nodeSelectorTerm, 'The nodes preferred.')),
        },
        { numbers: [1, 2] },
      ),
      'Nodes that are better.',
      { listType: 'atomic' },
    ),
  },
  { numbers: [1, 2] },
);
export type NodeAffinity = s.Static<typeof nodeAffinity>;

const podAffinityTerm = s.struct(
  'PodAffinityTerm',
  {
    labelSelector: s.pointer(labelSelector, 'The pods meant.'),
    namespaces: s.list(s.string(), 'Namespaces of those pods; the pod’s own when empty.', {
      listType: 'atomic',
    }),
    topologyKey: must(s.string('Node label whose value says what is the same place.')),
    namespaceSelector: s.pointer(labelSelector, 'More namespaces of those pods, by label.'),
    matchLabelKeys: s.list(s.string(), 'Label keys whose values must equal this pod’s.', {
      listType: 'atomic',
    }),
    mismatchLabelKeys: s.list(s.string(), 'Label keys whose values must differ from this pod’s.', {
      listType: 'atomic',
    }),
  },
  { numbers: [1, 2, 3, 4, 5, 6] },
);
export type PodAffinityTerm = s.Static<typeof podAffinityTerm>;

const podAffinityFields = {
  requiredDuringSchedulingIgnoredDuringExecution: s.list(podAffinityTerm, 'What must hold.', {
    listType: 'atomic',
  }),
  preferredDuringSchedulingIgnoredDuringExecution: s.list(
    s.struct(
      'WeightedPodAffinityTerm',
      {
        weight: must(s.int32('How much it counts, 1 to 100.')),
        podAffinityTerm: must(s.described(podAffinityTerm, 'What is preferred.')),
      },
      { numbers: [1, 2] },
    ),
    'What is better.',
    { listType: 'atomic' },
  ),
} as const;

const podAffinity = s.struct('PodAffinity', podAffinityFields, { numbers: [1, 2] });
const podAntiAffinity = s.struct('PodAntiAffinity', podAffinityFields, { numbers: [1, 2] });
export type PodAffinity = s.Static<typeof podAffinity>;

export const affinity = s.struct(
  'Affinity',
  {
    nodeAffinity: s.pointer(nodeAffinity, 'Which nodes.'),
    podAffinity: s.pointer(podAffinity, 'Near which pods.'),
    podAntiAffinity: s.pointer(podAntiAffinity, 'Away from which pods.'),
  },
  { numbers: [1, 2, 3] },
);
export type Affinity = s.Static<typeof affinity>;

export const toleration = s.struct(
  'Toleration',
  {
    key: s.string('Key of the taint; every key when empty with Exists.'),
    operator: s.string('Equal, Exists, Lt or Gt; Equal when empty.'),
    value: s.string('Value of the taint.'),
    effect: s.string('Effect of the taint; every effect when empty.'),
    tolerationSeconds: s.pointer(s.int64('How long NoExecute is tolerated; for ever when absent.')),
  },
  { numbers: [1, 2, 3, 4, 5] },
);
export type Toleration = s.Static<typeof toleration>;

export const topologySpreadConstraint = s.struct(
  'TopologySpreadConstraint',
  {
    maxSkew: must(s.int32('How uneven the spread may be.')),
    topologyKey: must(s.string('Node label whose values are the places to spread over.')),
    whenUnsatisfiable: must(s.string('DoNotSchedule or ScheduleAnyway.')),
    labelSelector: s.pointer(labelSelector, 'The pods counted.'),
    minDomains: s.pointer(s.int32('The least number of places.')),
    nodeAffinityPolicy: s.pointer(
      s.string('Honor or Ignore: whether node affinity is considered.'),
    ),
    nodeTaintsPolicy: s.pointer(s.string('Honor or Ignore: whether taints are considered.')),
    matchLabelKeys: s.list(s.string(), 'Label keys whose values must equal this pod’s.', {
      listType: 'atomic',
    }),
  },
  { numbers: [1, 2, 3, 4, 5, 6, 7, 8] },
);
export type TopologySpreadConstraint = s.Static<typeof topologySpreadConstraint>;
