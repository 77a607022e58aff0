import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { ask } from './example.ts';
import { ruleAllows } from './rbac-rules.ts';

const rules = {
  pods: { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
  named: {
    verbs: ['get', 'create'],
    apiGroups: [''],
    resources: ['configmaps'],
    resourceNames: ['a'],
  },
  status: { verbs: ['*'], apiGroups: ['*'], resources: ['leases', 'services/status'] },
  everyScale: { verbs: ['update'], apiGroups: ['apps'], resources: ['*/scale'] },
  everything: { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  paths: { verbs: ['get'], nonResourceURLs: ['/healthz', '/api/*'] },
  everyPath: { verbs: ['*'], nonResourceURLs: ['*'] },
  nothing: { verbs: null },
} satisfies Record<string, PolicyRule>;

const cases: readonly (readonly [keyof typeof rules, string, boolean])[] = [
  ['pods', 'get pods x in ns', true],
  ['pods', 'list pods', true],
  ['pods', 'delete pods x in ns', false],
  ['pods', 'get pods/status x in ns', false],
  ['pods', 'get pods.metrics.k8s.io x in ns', false],
  ['pods', 'get /pods', false],
  ['named', 'get configmaps a in ns', true],
  ['named', 'get configmaps b in ns', false],
  ['named', 'create configmaps in ns', false],
  ['status', 'watch leases.coordination.k8s.io in ns', true],
  ['status', 'get services/status x in ns', true],
  ['status', 'get services x in ns', false],
  ['everyScale', 'update deployments.apps/scale x in ns', true],
  ['everyScale', 'update deployments.apps x in ns', false],
  ['everyScale', 'update replicationcontrollers/scale x in ns', false],
  ['everything', 'bind clusterroles.rbac.authorization.k8s.io x', true],
  ['everything', 'get pods/log x in ns', true],
  ['everything', 'get /metrics', false],
  ['paths', 'get /healthz', true],
  ['paths', 'get /healthz/ping', false],
  ['paths', 'get /api/v1', true],
  ['paths', 'get /api', false],
  ['paths', 'post /healthz', false],
  ['everyPath', 'post /anything', true],
  ['everyPath', 'get pods', false],
  ['nothing', 'get pods', false],
];

for (const [rule, request, expected] of cases) {
  test(`ruleAllows() ${expected ? 'allows' : 'refuses'} "${request}" by "${rule}"`, () => {
    assert.equal(ruleAllows(rules[rule], ask(request)), expected);
  });
}
