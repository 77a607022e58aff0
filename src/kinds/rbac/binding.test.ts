import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { decode } from '../../schema/decode.ts';
import { type RoleBinding, roleBindingSchema } from '../role-binding/types.ts';
import {
  type BindingScope,
  defaultBinding,
  validateBinding,
  validateBindingUpdate,
} from './binding.ts';
import { bindingColumns } from './binding-columns.ts';

const inNamespace: BindingScope = { namespaced: true, roleKinds: ['Role', 'ClusterRole'] };
const inCluster: BindingScope = { namespaced: false, roleKinds: ['ClusterRole'] };

function binding(fields: Readonly<Record<string, unknown>>): RoleBinding {
  const raw = { metadata: { name: 'b' }, roleRef: { kind: 'ClusterRole', name: 'r' }, ...fields };
  return defaultBinding(decode(roleBindingSchema, raw).object as unknown as RoleBinding);
}
const withSubject = (subject: unknown) => binding({ subjects: [subject] });

test('defaultBinding() names the groups of role, users and groups', () => {
  const subjects = [
    { kind: 'User', name: 'u' },
    { kind: 'ServiceAccount', name: 's' },
  ];
  const filled = binding({ subjects });
  assert.equal(filled.roleRef.apiGroup, 'rbac.authorization.k8s.io');
  assert.deepEqual(filled.subjects, [
    { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'u' },
    { kind: 'ServiceAccount', name: 's' },
  ]);
});

const cases: readonly [string, RoleBinding, BindingScope, readonly string[]][] = [
  ['no subjects', binding({}), inNamespace, []],
  [
    'a role without name',
    binding({ roleRef: { kind: 'Foo' } }),
    inNamespace,
    [
      'roleRef.kind: Unsupported value: "Foo": supported values: "Role", "ClusterRole"',
      'roleRef.name: Required value',
    ],
  ],
  [
    'a role in the cluster',
    binding({ roleRef: { kind: 'Role', name: 'a/b', apiGroup: 'x' } }),
    inCluster,
    [
      'roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
      'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
      `roleRef.name: Invalid value: "a/b": may not contain '/'`,
    ],
  ],
  ['an account', withSubject({ kind: 'ServiceAccount', name: 's' }), inNamespace, []],
  [
    'an account without place in the cluster',
    withSubject({ kind: 'ServiceAccount', name: 's', apiGroup: 'x' }),
    inCluster,
    [
      'subjects[0].apiGroup: Unsupported value: "x": supported values: ""',
      'subjects[0].namespace: Required value',
    ],
  ],
  [
    'a group without name',
    withSubject({ kind: 'Group' }),
    inCluster,
    ['subjects[0].name: Required value'],
  ],
  [
    'another kind',
    withSubject({ kind: 'Foo', name: 'x' }),
    inCluster,
    [
      'subjects[0].kind: Unsupported value: "Foo": supported values: "ServiceAccount", "User", "Group"',
    ],
  ],
];

for (const [name, object, scope, want] of cases) {
  test(`validateBinding() of ${name}`, () => {
    assert.deepEqual(validateBinding(object, scope).map(errorText), want);
  });
}

test('validateBindingUpdate() keeps the role', () => {
  const after = binding({ roleRef: { kind: 'Role', name: 'o' } });
  assert.deepEqual(validateBindingUpdate(binding({}), after, inNamespace).map(errorText), [
    'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"o"}: cannot change roleRef',
  ]);
});

test('the table of bindings sorts subjects by kind', () => {
  const subjects = [
    { kind: 'User', name: 'u' },
    { kind: 'Group', name: 'g' },
    { kind: 'User', name: 'v' },
    { kind: 'ServiceAccount', name: 's', namespace: 'n' },
  ];
  const cells = bindingColumns('roleBinding', '').map(({ cell }) => cell(binding({ subjects }), 0));
  assert.deepEqual(cells, ['b', 'ClusterRole/r', '<unknown>', 'u, v', 'g', 'n/s']);
});
