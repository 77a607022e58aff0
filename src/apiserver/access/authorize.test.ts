import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PolicyRule } from '../../kinds/rbac/types.ts';
import { createAuthorizer } from './authorize.ts';
import {
  ask,
  exampleBinding,
  exampleClusterRole,
  exampleReader,
  exampleRole,
  exampleUser,
  toGroup,
  toUser,
} from './example.ts';

const read = (resources: string): PolicyRule => ({
  verbs: ['get', 'list'],
  apiGroups: [''],
  resources: resources.split(' '),
});

const reader = () =>
  exampleReader([
    exampleRole('ns', 'r', [read('pods')]),
    exampleClusterRole('cr', [read('services nodes')]),
    exampleClusterRole('gather', [], { gathers: ['to-gather'] }),
    exampleClusterRole('part', [read('secrets')], { labels: { 'to-gather': 'true' } }),
    exampleBinding({
      namespace: 'ns',
      name: 'b',
      role: 'Role/r',
      subjects: [toGroup('team'), toUser('u')],
    }),
    exampleBinding({ namespace: 'ns', name: 'c', role: 'ClusterRole/cr', subjects: [toUser('u')] }),
    exampleBinding({ name: 'everywhere', role: 'ClusterRole/cr', subjects: [toGroup('ops')] }),
    exampleBinding({ name: 'gathered', role: 'ClusterRole/gather', subjects: [toUser('g')] }),
    exampleBinding({
      namespace: 'ns',
      name: 'accounts',
      role: 'Role/r',
      subjects: [
        { kind: 'ServiceAccount', name: 'here' },
        { kind: 'ServiceAccount', name: 'there', namespace: 'other' },
      ],
    }),
    exampleBinding({ name: 'lost', role: 'ClusterRole/nope', subjects: [toUser('l')] }),
    exampleBinding({ namespace: 'ns', name: 'lost', role: 'Role/nope', subjects: [toUser('l')] }),
  ]);

const cases: readonly {
  readonly user: readonly [string, ...string[]];
  readonly request: string;
  readonly allowed: boolean;
  readonly reason: string;
}[] = [
  { user: ['any', 'system:masters'], request: 'delete nodes x', allowed: true, reason: '' },
  { user: ['any', 'system:masters'], request: 'get /metrics', allowed: true, reason: '' },
  {
    user: ['u'],
    request: 'get pods x in ns',
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "b/ns" of Role "r" to User "u"',
  },
  {
    user: ['v', 'team'],
    request: 'list pods in ns',
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "b/ns" of Role "r" to Group "team"',
  },
  {
    user: ['u', 'team'],
    request: 'list pods in ns',
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "b/ns" of Role "r" to Group "team"',
  },
  { user: ['u'], request: 'delete pods x in ns', allowed: false, reason: '' },
  { user: ['u'], request: 'get pods x in default', allowed: false, reason: '' },
  { user: ['u'], request: 'list pods', allowed: false, reason: '' },
  {
    user: ['u'],
    request: 'get services x in ns',
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "c/ns" of ClusterRole "cr" to User "u"',
  },
  { user: ['u'], request: 'get nodes x', allowed: false, reason: '' },
  {
    user: ['o', 'ops'],
    request: 'get nodes x',
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "everywhere" of ClusterRole "cr" to Group "ops"',
  },
  {
    user: ['o', 'ops'],
    request: 'get services x in ns',
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "everywhere" of ClusterRole "cr" to Group "ops"',
  },
  {
    user: ['g'],
    request: 'get secrets x in any',
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "gathered" of ClusterRole "gather" to User "g"',
  },
  {
    user: ['system:serviceaccount:ns:here'],
    request: 'get pods x in ns',
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "accounts/ns" of Role "r" to ServiceAccount "here/ns"',
  },
  {
    user: ['system:serviceaccount:other:there'],
    request: 'get pods x in ns',
    allowed: true,
    reason:
      'RBAC: allowed by RoleBinding "accounts/ns" of Role "r" to ServiceAccount "there/other"',
  },
  {
    user: ['system:serviceaccount:ns:there'],
    request: 'get pods x in ns',
    allowed: false,
    reason: '',
  },
  {
    user: ['l'],
    request: 'get nodes x',
    allowed: false,
    reason: 'RBAC: clusterrole.rbac.authorization.k8s.io "nope" not found',
  },
  {
    user: ['l'],
    request: 'get pods x in ns',
    allowed: false,
    reason:
      'RBAC: [clusterrole.rbac.authorization.k8s.io "nope" not found, role.rbac.authorization.k8s.io "nope" not found]',
  },
];

for (const { user, request, allowed, reason } of cases) {
  test(`authorize() ${allowed ? 'allows' : 'refuses'} ${user.join(' in ')} "${request}"`, () => {
    const decision = createAuthorizer(reader()).authorize(exampleUser(...user), ask(request));
    assert.deepEqual(decision, { allowed, reason });
  });
}

test('authorize() notices every change of roles and bindings', () => {
  const objects = reader();
  const { authorize } = createAuthorizer(objects);
  const mayGet = (what: string): boolean =>
    authorize(exampleUser('u'), ask(`get ${what} x in ns`)).allowed;
  assert.deepEqual([mayGet('pods'), mayGet('secrets')], [true, false]);
  objects.put(exampleRole('ns', 'r', [read('secrets')]));
  assert.deepEqual([mayGet('pods'), mayGet('secrets')], [false, true]);
  objects.put(exampleClusterRole('cr', [read('pods')]));
  assert.deepEqual([mayGet('pods'), mayGet('services')], [true, false]);
  objects.put(exampleBinding({ namespace: 'ns', name: 'b', role: 'Role/r', subjects: [] }));
  assert.deepEqual([mayGet('pods'), mayGet('secrets')], [true, false]);
  objects.put(exampleBinding({ name: 'new', role: 'ClusterRole/part', subjects: [toUser('u')] }));
  assert.deepEqual([mayGet('pods'), mayGet('secrets')], [true, true]);
});

test('authorize() reads a role once, and rulesFor() does not list it thousands of times', () => {
  let reads = 0;
  const rule = {
    ...read('pods'),
    get verbs(): readonly string[] {
      reads += 1;
      return ['get'];
    },
  };
  const large = exampleRole('ns', 'large', Array<PolicyRule>(1_000).fill(rule));
  const bindings = Array.from({ length: 200 }, (_, n) =>
    exampleBinding({ namespace: 'ns', name: `b${n}`, role: 'Role/large', subjects: [toUser('u')] }),
  );
  const { authorize, rulesFor } = createAuthorizer(exampleReader([large, ...bindings]));
  assert.equal(authorize(exampleUser('u'), ask('delete nodes x in ns')).allowed, false);
  assert.ok(reads <= 2_000, `${reads} reads`);
  const { rules } = rulesFor(exampleUser('u'), 'ns');
  assert.ok(rules.length <= 11_000, `${rules.length} rules`);
});

test('authorize() names some of thousands of roles that are missing', () => {
  const bindings = Array.from({ length: 1_000 }, (_, n) =>
    exampleBinding({ namespace: 'ns', name: `b${n}`, role: `Role/r${n}`, subjects: [toUser('u')] }),
  );
  const { authorize } = createAuthorizer(exampleReader(bindings));
  const { reason } = authorize(exampleUser('u'), ask('get nodes x in ns'));
  assert.match(reason, /"r0" not found/);
  assert.ok(reason.length < 10_000, `${reason.length} letters`);
});

test('rulesFor() lists the rules of the cluster and of the namespace', () => {
  const { rulesFor } = createAuthorizer(reader());
  const missing = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'nope' }];
  assert.deepEqual(rulesFor(exampleUser('u', 'ops'), 'ns'), {
    rules: [read('services nodes'), read('pods'), read('services nodes')],
    missing: [],
  });
  assert.deepEqual(rulesFor(exampleUser('u'), ''), { rules: [], missing: [] });
  assert.deepEqual(rulesFor(exampleUser('l'), ''), { rules: [], missing });
});
