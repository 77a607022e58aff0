import type { KubeObject } from '../../meta/object.ts';
import type { Column } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import type { RoleRef, Subject } from './types.ts';

type Binding = KubeObject & { readonly subjects?: readonly Subject[]; readonly roleRef: RoleRef };

/** `binding` is the name of the kind in the descriptions. */
export function bindingColumns(
  binding: string,
  roleDescription: string,
): readonly Column<Binding>[] {
  return [
    nameColumn,
    {
      name: 'Role',
      type: 'string',
      description: roleDescription,
      cell: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`,
    },
    ageColumn,
    subjectColumn('Users', binding, ['User'], ({ name }) => name),
    subjectColumn('Groups', binding, ['Group'], ({ name }) => name),
    subjectColumn(
      'ServiceAccounts',
      binding,
      ['ServiceAccount'],
      ({ namespace = '', name }) => `${namespace}/${name}`,
    ),
  ];
}

function subjectColumn(
  name: string,
  binding: string,
  kinds: readonly string[],
  text: (subject: Subject) => string,
): Column<Binding> {
  return {
    name,
    type: 'string',
    priority: 1,
    description: `${name} in the ${binding}`,
    cell: ({ subjects = [] }) =>
      subjects
        .filter(({ kind }) => kinds.includes(kind))
        .map(text)
        .join(', '),
  };
}
