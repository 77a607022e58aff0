import type { Column, KindDefinition } from '../definition.ts';
import { nameColumn } from '../metadata-columns.ts';
import { type IPAddress, ipAddressSchema, type ParentReference } from './types.ts';
import { nameIsCanonicalIP, validateIPAddress, validateIPAddressUpdate } from './validate.ts';

/** Upstream's table has no age. */
const columns: readonly Column<IPAddress>[] = [
  nameColumn,
  {
    name: 'ParentRef',
    type: 'string',
    description:
      'ParentRef references the resource that an IPAddress is attached to. An IPAddress must reference a parent object.',
    cell: ({ spec }) => formatParent(spec.parentRef),
  },
];

export const ipAddressDefinition: KindDefinition<IPAddress> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IPAddress',
  plural: 'ipaddresses',
  singular: 'ipaddress',
  shortNames: ['ip'],
  namespaced: false,
  schema: ipAddressSchema,
  nameRule: nameIsCanonicalIP,
  generatesNoLetters: true,
  create: { validateCreate: validateIPAddress },
  update: { validateUpdate: validateIPAddressUpdate },
  columns,
  fieldSelectorError: 'known',
};

/** `services/default/web`; a group follows the resource. */
function formatParent(parent: ParentReference | undefined): string {
  if (parent === undefined) return '<none>';
  const { group, resource = '', namespace, name = '' } = parent;
  const kind = (group === undefined ? resource : `${resource}.${group}`).toLowerCase();
  return namespace === undefined ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}
