import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PolicyRule, rbacGroup } from '../../kinds/rbac/types.ts';
import { isApiError } from '../../meta/api-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { createAuthorizer } from './authorize.ts';
import { checkEscalation } from './escalation.ts';
import {
  exampleBinding,
  exampleClusterRole,
  exampleReader,
  exampleRole,
  exampleUser,
  toUser,
} from './example.ts';

const on = (resources: string, verbs: string, group = ''): PolicyRule => ({
  verbs: verbs.split(' '),
  apiGroups: [group],
  resources: resources.split(' '),
});

const authorizer = createAuthorizer(
  exampleReader([
    exampleRole('ns', 'editor', [on('roles rolebindings', 'create get', rbacGroup)]),
    exampleRole('ns', 'pods', [on('pods', 'get list')]),
    exampleClusterRole('escalator', [on('roles clusterroles', 'escalate', rbacGroup)]),
    exampleClusterRole('binder', [
      { ...on('clusterroles roles', 'bind', rbacGroup), resourceNames: ['pods'] },
    ]),
    exampleClusterRole('all', [on('*', '*', '*'), { verbs: ['*'], nonResourceURLs: ['*'] }]),
    exampleBinding({ namespace: 'ns', name: 'b', role: 'Role/editor', subjects: [toUser('u')] }),
    exampleBinding({ name: 'e', role: 'ClusterRole/escalator', subjects: [toUser('escalator')] }),
    exampleBinding({ name: 'f', role: 'ClusterRole/binder', subjects: [toUser('binder')] }),
    exampleBinding({ name: 'g', role: 'ClusterRole/all', subjects: [toUser('boss')] }),
    exampleBinding({
      namespace: 'ns',
      name: 'lost',
      role: 'Role/nope',
      subjects: [toUser('lost')],
    }),
  ]),
);

const granting = (user: string, what: string, rules: string): string =>
  `${what} is forbidden: user "${user}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${rules}`;

const bind = (role: string, namespace?: string): KubeObject =>
  exampleBinding({
    ...(namespace === undefined ? {} : { namespace }),
    name: 'c',
    role,
    subjects: [toUser('u')],
  });

const gatherer = exampleClusterRole('agg', [], { gathers: ['x'] });

const cases: readonly {
  readonly title: string;
  readonly user: string;
  readonly before?: KubeObject;
  readonly after: KubeObject;
  /** Absent: the write passes. */
  readonly message?: string;
}[] = [
  {
    title: 'a role with more than the user has',
    user: 'u',
    after: exampleRole('ns', 'more', [on('pods', 'get')]),
    message: granting(
      'u',
      'roles.rbac.authorization.k8s.io "more"',
      '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
    ),
  },
  {
    title: 'a role with what the user has',
    user: 'u',
    after: exampleRole('ns', 'same', [on('roles', 'get', rbacGroup)]),
  },
  {
    title: 'a cluster role with what the user has in one namespace',
    user: 'u',
    after: exampleClusterRole('same', [on('roles', 'get', rbacGroup)]),
    message: granting(
      'u',
      'clusterroles.rbac.authorization.k8s.io "same"',
      '{APIGroups:["rbac.authorization.k8s.io"], Resources:["roles"], Verbs:["get"]}',
    ),
  },
  {
    title: 'a binding to what is no role',
    user: 'u',
    after: bind('Pod/pods', 'ns'),
    message: 'unsupported role reference kind: "Pod"',
  },
  {
    title: 'a binding to a role with more than the user has',
    user: 'u',
    after: bind('Role/pods', 'ns'),
    message: granting(
      'u',
      'rolebindings.rbac.authorization.k8s.io "c"',
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
    ),
  },
  {
    title: 'a binding to a role with what the user has',
    user: 'u',
    after: bind('Role/editor', 'ns'),
  },
  {
    title: 'a binding to no role',
    user: 'u',
    after: bind('Role/nope', 'ns'),
    message: 'roles.rbac.authorization.k8s.io "nope" not found',
  },
  {
    title: 'a role by one who may escalate',
    user: 'escalator',
    after: exampleRole('ns', 'more', [on('pods', 'get')]),
  },
  {
    title: 'a binding by one who may only escalate',
    user: 'escalator',
    after: bind('Role/pods', 'ns'),
    message: granting(
      'escalator',
      'rolebindings.rbac.authorization.k8s.io "c"',
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
    ),
  },
  {
    title: 'a binding by one who may bind just that role',
    user: 'binder',
    after: bind('Role/pods', 'ns'),
  },
  {
    title: 'a cluster-wide binding by one who may bind another role',
    user: 'binder',
    after: bind('ClusterRole/escalator'),
    message: granting(
      'binder',
      'clusterrolebindings.rbac.authorization.k8s.io "c"',
      '{APIGroups:["rbac.authorization.k8s.io"], Resources:["clusterroles"], Verbs:["escalate"]}\n{APIGroups:["rbac.authorization.k8s.io"], Resources:["roles"], Verbs:["escalate"]}',
    ),
  },
  {
    title: 'a role that gathers others',
    user: 'u',
    after: gatherer,
    message:
      'clusterroles.rbac.authorization.k8s.io "agg" is forbidden: must have cluster-admin privileges to use the aggregationRule',
  },
  {
    title: 'a role that no longer gathers others',
    user: 'u',
    before: gatherer,
    after: exampleClusterRole('agg', []),
    message:
      'clusterroles.rbac.authorization.k8s.io "agg" is forbidden: must have cluster-admin privileges to use the aggregationRule',
  },
  { title: 'a role that gathers others, by one with all rights', user: 'boss', after: gatherer },
  {
    title: 'a change of owners alone',
    user: 'u',
    before: exampleRole('ns', 'more', [on('pods', 'get')]),
    after: {
      ...exampleRole('ns', 'more', [on('pods', 'get')]),
      metadata: { name: 'more', namespace: 'ns', finalizers: ['example.com/x'] },
    },
  },
  {
    title: 'a change of labels of a role that is above the user',
    user: 'u',
    before: exampleRole('ns', 'more', [on('pods', 'get')]),
    after: {
      ...exampleRole('ns', 'more', [on('pods', 'get')]),
      metadata: { name: 'more', namespace: 'ns', labels: { a: 'b' } },
    },
    message: granting(
      'u',
      'roles.rbac.authorization.k8s.io "more"',
      '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}',
    ),
  },
  {
    title: 'a role by one whose own roles are missing',
    user: 'lost',
    after: exampleRole('ns', 'more', [on('pods', 'get')]),
    message: `${granting('lost', 'roles.rbac.authorization.k8s.io "more"', '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}')}; resolution errors: [roles.rbac.authorization.k8s.io "nope" not found]`,
  },
];

for (const { title, user, before, after, message } of cases) {
  test(`checkEscalation() ${message === undefined ? 'lets pass' : 'refuses'} ${title}`, () => {
    const run = (groups: readonly string[]): void =>
      checkEscalation({
        user: exampleUser(user, ...groups),
        authorizer,
        definition: { group: rbacGroup, plural: `${after.kind.toLowerCase()}s` },
        ...(before === undefined ? {} : { before }),
        after,
        namespace: after.metadata.namespace ?? '',
      });
    if (message === undefined) run(['system:authenticated']);
    else
      assert.throws(
        () => run(['system:authenticated']),
        (error) => isApiError(error) && error.message === message,
      );
    run(['system:masters']);
  });
}
