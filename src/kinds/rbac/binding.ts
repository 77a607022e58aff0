// Defaults and validation of RoleBindings and ClusterRoleBindings.
import { type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import { nameIsDnsSubdomain, pathSegmentName } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import { type RoleRef, rbacGroup, type Subject } from './types.ts';

type Binding = { readonly subjects?: readonly Subject[]; readonly roleRef: RoleRef };

export type BindingScope = {
  readonly namespaced: boolean;
  readonly roleKinds: readonly string[];
};

export function defaultBinding<T extends Binding>(binding: T): T {
  const { subjects, roleRef } = binding;
  return {
    ...binding,
    ...(subjects === undefined ? {} : { subjects: subjects.map(defaultSubject) }),
    roleRef: { ...roleRef, apiGroup: roleRef.apiGroup || rbacGroup },
  };
}

function defaultSubject(subject: Subject): Subject {
  const { kind, apiGroup, ...rest } = subject;
  if (apiGroup || (kind !== 'User' && kind !== 'Group')) return subject;
  return { kind, apiGroup: rbacGroup, ...rest };
}

export function validateBinding(binding: Binding, scope: BindingScope): readonly FieldError[] {
  return [
    ...validateRoleRef(binding.roleRef, scope),
    ...(binding.subjects ?? []).flatMap((subject, i) =>
      validateSubject(subject, `subjects[${i}]`, scope),
    ),
  ];
}

export function validateBindingUpdate(
  before: Binding,
  after: Binding,
  scope: BindingScope,
): readonly FieldError[] {
  const { apiGroup, kind, name } = after.roleRef;
  const shown = { APIGroup: apiGroup, Kind: kind, Name: name };
  return [
    ...validateBinding(after, scope),
    ...(deepEqual(before.roleRef, after.roleRef)
      ? []
      : [invalid('roleRef', shown, 'cannot change roleRef')]),
  ];
}

function validateRoleRef(roleRef: RoleRef, scope: BindingScope): readonly FieldError[] {
  const { apiGroup, kind, name } = roleRef;
  return [
    ...(apiGroup === rbacGroup ? [] : [notSupported('roleRef.apiGroup', apiGroup, [rbacGroup])]),
    ...(scope.roleKinds.includes(kind)
      ? []
      : [notSupported('roleRef.kind', kind, scope.roleKinds)]),
    ...(name === ''
      ? [required('roleRef.name')]
      : pathSegmentName(name).map((detail) => invalid('roleRef.name', name, detail))),
  ];
}

function validateSubject(
  subject: Subject,
  field: string,
  scope: BindingScope,
): readonly FieldError[] {
  const { kind, name, apiGroup = '' } = subject;
  return [...(name === '' ? [required(`${field}.name`)] : []), ...validateSubjectKind()];

  function validateSubjectKind(): readonly FieldError[] {
    switch (kind) {
      case 'ServiceAccount':
        return validateServiceAccount(subject, field, scope);
      case 'User':
      case 'Group':
        return apiGroup === rbacGroup
          ? []
          : [notSupported(`${field}.apiGroup`, apiGroup, [rbacGroup])];
      default:
        return [notSupported(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group'])];
    }
  }
}

function validateServiceAccount(
  { name, apiGroup = '', namespace = '' }: Subject,
  field: string,
  scope: BindingScope,
): readonly FieldError[] {
  const wrongName = name === '' ? [] : nameIsDnsSubdomain(name, false);
  return [
    ...wrongName.map((detail) => invalid(`${field}.name`, name, detail)),
    ...(apiGroup === '' ? [] : [notSupported(`${field}.apiGroup`, apiGroup, [''])]),
    ...(scope.namespaced || namespace !== '' ? [] : [required(`${field}.namespace`)]),
  ];
}
