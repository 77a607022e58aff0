import { labelSelector } from '../../meta/labels.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';
import { policyRules } from '../rbac/types.ts';

const aggregationRule = s.struct(
  'AggregationRule',
  {
    clusterRoleSelectors: s.list(
      labelSelector,
      'Cluster roles that match any of these give their rules to this one.',
      { listType: 'atomic' },
    ),
  },
  { numbers: [1] },
);

export const clusterRoleSchema = s.struct(
  'ClusterRole',
  {
    ...objectFields,
    rules: policyRules,
    aggregationRule: s.pointer(aggregationRule, 'Where a controller collects the rules from.'),
  },
  {
    description:
      'Rules about what may be done, for the whole cluster or for bindings of a namespace to refer to.',
    numbers: [0, 0, 1, 2, 3],
  },
);
export type ClusterRole = KubeObject & s.Static<typeof clusterRoleSchema>;
