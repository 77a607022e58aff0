import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, exampleUser } from './example.ts';
import { forbiddenAccess } from './forbidden.ts';

const cases: readonly {
  readonly user?: string;
  readonly request: string;
  readonly reason?: string;
  readonly message: string;
  readonly details: object;
}[] = [
  {
    request: 'list configmaps in ns',
    message:
      'configmaps is forbidden: User "u" cannot list resource "configmaps" in API group "" in the namespace "ns"',
    details: { kind: 'configmaps' },
  },
  {
    request: 'get nodes x',
    message:
      'nodes "x" is forbidden: User "u" cannot get resource "nodes" in API group "" at the cluster scope',
    details: { name: 'x', kind: 'nodes' },
  },
  {
    request: 'list endpointslices.discovery.k8s.io in ns',
    message:
      'endpointslices.discovery.k8s.io is forbidden: User "u" cannot list resource "endpointslices" in API group "discovery.k8s.io" in the namespace "ns"',
    details: { group: 'discovery.k8s.io', kind: 'endpointslices' },
  },
  {
    request: 'update services/status x in ns',
    message:
      'services "x" is forbidden: User "u" cannot update resource "services/status" in API group "" in the namespace "ns"',
    details: { name: 'x', kind: 'services' },
  },
  {
    request: 'get /metrics',
    message: 'forbidden: User "u" cannot get path "/metrics"',
    details: {},
  },
  {
    user: 'a"<b>&\u0001é',
    request: 'list nodes',
    reason: 'RBAC: role "<x>" not found',
    message:
      'nodes is forbidden: User "a\\"&lt;b&gt;&amp;\\x01é" cannot list resource "nodes" in API group "" at the cluster scope: RBAC: role "<x>" not found',
    details: { kind: 'nodes' },
  },
];

for (const { user = 'u', request, reason = '', message, details } of cases) {
  test(`forbiddenAccess() says why "${request}" is refused`, () => {
    const { status } = forbiddenAccess(exampleUser(user), ask(request), reason);
    assert.deepEqual(
      {
        code: status.code,
        reason: status.reason,
        message: status.message,
        details: status.details,
      },
      { code: 403, reason: 'Forbidden', message, details },
    );
  });
}
