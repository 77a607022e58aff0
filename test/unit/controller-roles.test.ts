// Controllers get their rights from the default roles of the API server: one that is added without a role could do nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAuthorizer } from '../../src/apiserver/access/authorize.ts';
import { bootstrapPolicy } from '../../src/apiserver/access/bootstrap-policy.ts';
import { exampleReader } from '../../src/apiserver/access/example.ts';
import { describeRules, missingRules } from '../../src/apiserver/access/missing-rules.ts';
import { allControllers } from '../../src/controllers/all.ts';
import type { Right } from '../../src/kinds/rbac/rights.ts';
import type { KubeObject } from '../../src/meta/object.ts';
import { rulesOf } from '../parts/harness/role-manifests.ts';

const policy = bootstrapPolicy();
const authorizer = createAuthorizer(exampleReader(Object.values(policy).flat() as KubeObject[]));
/** The user of the controllers in `fairlead up`. */
const manager = { name: 'system:kube-controller-manager', groups: [] };

/** What the default roles do not allow the manager, of the rights that a controller has without further flags. */
function missingOf(rights: readonly Right[]): readonly string[] {
  return rights
    .filter(({ onlyWith, onlyElsewhere }) => onlyWith === undefined && onlyElsewhere === undefined)
    .flatMap((right) => {
      const { rules } = authorizer.rulesFor(manager, right.namespace ?? '');
      return describeRules(missingRules(rules, rulesOf([right])));
    });
}

for (const { name, account, watches, rights } of allControllers) {
  test(`bootstrapPolicy() lets ${name} do its work`, () => {
    assert.deepEqual(missingOf([...watches, ...rights]), []);
  });

  test(`bootstrapPolicy() has a role for the service account of ${name}`, () => {
    const { clusterRoleBindings, roleBindings } = policy;
    const isBound = [...clusterRoleBindings, ...roleBindings].some(({ subjects = [] }) =>
      subjects.some((one) => one.kind === 'ServiceAccount' && one.name === account),
    );
    assert.ok(isBound, `no default role is bound to the service account "${account}"`);
  });
}
