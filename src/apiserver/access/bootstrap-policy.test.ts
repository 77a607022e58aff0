import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterRoleDefinition } from '../../kinds/cluster-role/definition.ts';
import { clusterRoleBindingDefinition } from '../../kinds/cluster-role-binding/definition.ts';
import type { AnyKind } from '../../kinds/definition.ts';
import { roleDefinition } from '../../kinds/role/definition.ts';
import { roleBindingDefinition } from '../../kinds/role-binding/definition.ts';
import type { KubeObject } from '../../meta/object.ts';
import { decode } from '../../schema/decode.ts';
import { createAuthorizer } from './authorize.ts';
import { bootstrapPolicy } from './bootstrap-policy.ts';
import { ask, exampleBinding, exampleReader, exampleUser, toUser } from './example.ts';

const policy = bootstrapPolicy();
const objects = Object.values(policy).flat() as readonly KubeObject[];

test('bootstrapPolicy() gives valid objects that the server would store as they are', () => {
  const kinds: readonly (readonly [AnyKind, readonly KubeObject[]])[] = [
    [clusterRoleDefinition, policy.clusterRoles],
    [clusterRoleBindingDefinition, policy.clusterRoleBindings],
    [roleDefinition, policy.roles],
    [roleBindingDefinition, policy.roleBindings],
  ];
  for (const [definition, list] of kinds) {
    assert.ok(list.length > 0);
    for (const object of list) {
      const { name } = object.metadata;
      const decoded = decode(definition.schema, object);
      assert.equal(decoded.error, undefined, name);
      assert.deepEqual(
        definition.defaults?.(decoded.object as KubeObject) ?? decoded.object,
        object,
        name,
      );
      assert.deepEqual(definition.create.validateCreate(object), [], name);
      assert.equal(object.metadata.labels?.['kubernetes.io/bootstrapping'], 'rbac-defaults');
      assert.equal(
        object.metadata.annotations?.['rbac.authorization.kubernetes.io/autoupdate'],
        'true',
      );
    }
    const names = list.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
    assert.equal(new Set(names).size, list.length);
  }
});

test('bootstrapPolicy() binds only roles that it has', () => {
  const { roleRules } = createAuthorizer(exampleReader(objects));
  for (const { metadata, roleRef } of [...policy.clusterRoleBindings, ...policy.roleBindings]) {
    assert.ok(roleRules(roleRef, metadata.namespace ?? ''), metadata.name);
  }
});

const everybody = 'system:authenticated';

const cases: readonly (readonly [readonly [string, ...string[]], string, boolean])[] = [
  [['u', everybody], 'get /version', true],
  [['u', everybody], 'get /api', true],
  [['u', everybody], 'get /openapi/v3/api/v1', true],
  [['u', everybody], 'get /metrics', false],
  [['u', everybody], 'create selfsubjectaccessreviews.authorization.k8s.io', true],
  [['u', everybody], 'create subjectaccessreviews.authorization.k8s.io', false],
  [['u', everybody], 'list pods in ns', false],
  [['system:anonymous', 'system:unauthenticated'], 'get /livez', true],
  [['system:anonymous', 'system:unauthenticated'], 'get /api', false],
  [['system:kube-proxy', everybody], 'watch endpointslices.discovery.k8s.io', true],
  [['system:kube-proxy', everybody], 'create events.events.k8s.io in default', true],
  [['system:kube-proxy', everybody], 'get secrets x in ns', false],
  [['fairlead:announcer', everybody], 'watch services', true],
  [['fairlead:announcer', everybody], 'watch endpointslices.discovery.k8s.io', true],
  [['fairlead:announcer', everybody], 'create events.events.k8s.io in default', true],
  [
    ['fairlead:announcer', everybody],
    'update leases.coordination.k8s.io fairlead-announcer-a in kube-system',
    true,
  ],
  [['fairlead:announcer', everybody], 'update leases.coordination.k8s.io x in ns', false],
  [['fairlead:announcer', everybody], 'update services/status x in ns', false],
  [['system:node:a', 'system:nodes', everybody], 'update nodes/status a', true],
  [['system:kube-scheduler', everybody], 'create pods/binding x in ns', true],
  [['system:kube-controller-manager', everybody], 'update namespaces/finalize x in x', true],
  [
    ['system:serviceaccount:kube-system:endpointslice-controller'],
    'create endpointslices.discovery.k8s.io in ns',
    true,
  ],
  [['system:serviceaccount:kube-system:endpointslice-controller'], 'create endpoints in ns', false],
  [['system:serviceaccount:kube-system:coredns'], 'watch services', true],
  [['system:node:a', 'system:nodes'], 'watch endpointslices.discovery.k8s.io', true],
  [['system:node:a', 'system:nodes'], 'list nodes', false],
  [
    ['system:anonymous', 'system:unauthenticated'],
    'get configmaps cluster-info in kube-public',
    true,
  ],
  [['system:anonymous', 'system:unauthenticated'], 'list configmaps in kube-public', false],
  [
    ['system:bootstrap:a', 'system:bootstrappers:fairlead:default-node-token'],
    'create certificatesigningrequests.certificates.k8s.io',
    true,
  ],
  [
    ['system:bootstrap:a', 'system:bootstrappers'],
    'create certificatesigningrequests.certificates.k8s.io',
    false,
  ],
  [
    ['system:bootstrap:a', 'system:bootstrappers:fairlead:default-node-token'],
    'list secrets in kube-system',
    false,
  ],
  [['viewer'], 'list services in ns', true],
  [['viewer'], 'get secrets x in ns', false],
  [['editor'], 'list endpoints in ns', true],
  [['editor'], 'delete services x in ns', true],
  [['editor'], 'create roles.rbac.authorization.k8s.io in ns', false],
  [['admin'], 'get pods/log x in ns', true],
  [['admin'], 'get secrets x in ns', true],
  [['admin'], 'create rolebindings.rbac.authorization.k8s.io in ns', true],
  [['admin'], 'update namespaces ns in ns', false],
  [['admin'], 'list services', false],
];

const { authorize } = createAuthorizer(
  exampleReader([
    ...objects,
    ...(['view', 'edit', 'admin'] as const).map((role, i) =>
      exampleBinding({
        namespace: 'ns',
        name: role,
        role: `ClusterRole/${role}`,
        subjects: [toUser(['viewer', 'editor', 'admin'][i] ?? '')],
      }),
    ),
  ]),
);

for (const [user, request, expected] of cases) {
  test(`bootstrapPolicy() ${expected ? 'lets' : 'does not let'} ${user[0]} ${request}`, () => {
    assert.equal(authorize(exampleUser(...user), ask(request)).allowed, expected);
  });
}
