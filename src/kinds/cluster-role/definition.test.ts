import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { clusterRoleDefinition } from './definition.ts';
import type { ClusterRole } from './types.ts';

function role(fields: Partial<ClusterRole>): ClusterRole {
  return {
    kind: 'ClusterRole',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: { name: 'r' },
    rules: null,
    ...fields,
  };
}

const field = 'aggregationRule.clusterRoleSelectors';
const cases: readonly [string, Partial<ClusterRole>, readonly string[]][] = [
  ['no rules', {}, []],
  [
    'an aggregation of nothing',
    { aggregationRule: {} },
    [
      `${field}: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil`,
    ],
  ],
  [
    'an aggregation by label',
    { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } },
    [],
  ],
  [
    'a selector without values',
    {
      aggregationRule: {
        clusterRoleSelectors: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }],
      },
    },
    [
      `${field}[0].matchExpressions[0].values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`,
      `${field}[0]: Invalid value: null: invalid label selector.`,
    ],
  ],
];

for (const [name, fields, want] of cases) {
  test(`validation of a cluster role with ${name}`, () => {
    const errors = clusterRoleDefinition.create.validateCreate(role(fields));
    assert.deepEqual(errors.map(errorText), want);
  });
}
