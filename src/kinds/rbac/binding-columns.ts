import type { KubeObject } from '../../meta/object.ts';
import type { Column } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import type { RoleRef, Subject } from './types.ts';

type Binding = KubeObject & { readonly subjects?: readonly Subject[]; readonly roleRef: RoleRef };

/** `thing` is what the descriptions call the binding. */
export function bindingColumns(thing: string, roleDescription: string): readonly Column<Binding>[] {
  return [
    nameColumn,
    {
      name: 'Role',
      type: 'string',
      description: roleDescription,
      cell: ({ roleRef }) => `${roleRef.kind}/${roleRef.name}`,
    },
    ageColumn,
    subjectColumn('Users', thing, ['User'], ({ name }) => name),
    subjectColumn('Groups', thing, ['Group'], ({ name }) => name),
    subjectColumn(
      'ServiceAccounts',
      thing,
      ['ServiceAccount'],
      ({ namespace = '', name }) => `${namespace}/${name}`,
    ),
  ];
}

function subjectColumn(
  name: string,
  thing: string,
  kinds: readonly string[],
  text: (subject: Subject) => string,
): Column<Binding> {
  return {
    name,
    type: 'string',
    priority: 1,
    description: `${name} in the ${thing}`,
    cell: ({ subjects = [] }) =>
      subjects
        .filter(({ kind }) => kinds.includes(kind))
        .map(text)
        .join(', '),
  };
}
