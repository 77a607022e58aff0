import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import type { PolicyRule } from './types.ts';
import { validateRules } from './validate-rules.ts';

const pods: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const paths: PolicyRule = { verbs: ['get'], nonResourceURLs: ['/metrics'] };

const cases: readonly [string, PolicyRule, boolean, readonly string[]][] = [
  ['a rule for pods', pods, true, []],
  [
    'names of several resources, which kubectl create role refuses and servers do not',
    { ...pods, resources: ['pods', 'services'], resourceNames: ['a'] },
    true,
    [],
  ],
  ['paths in the cluster', paths, false, []],
  [
    'paths in a namespace',
    paths,
    true,
    [
      'rules[0].nonResourceURLs: Invalid value: ["/metrics"]: namespaced rules cannot apply to non-resource URLs',
    ],
  ],
  [
    'paths and resources together',
    { ...pods, ...paths },
    false,
    [
      'rules[0].nonResourceURLs: Invalid value: ["/metrics"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
  ],
  [
    'an empty rule',
    { verbs: null },
    true,
    [
      'rules[0].verbs: Required value: verbs must contain at least one value',
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
    ],
  ],
];

for (const [name, rule, namespaced, want] of cases) {
  test(`validateRules() of ${name}`, () => {
    assert.deepEqual(validateRules([rule], { namespaced }).map(errorText), want);
  });
}
