import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { ObjectMeta } from '../../meta/object.ts';
import type { Column, KindDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { type ServiceCIDR, serviceCidrSchema } from './types.ts';
import { validateServiceCIDR, validateServiceCIDRUpdate } from './validate.ts';

const columns: readonly Column<ServiceCIDR>[] = [
  nameColumn,
  {
    name: 'CIDRs',
    type: 'string',
    description:
      'CIDRs defines the IP blocks in CIDR notation (e.g. "192.168.0.0/24" or "2001:db8::/64") from which to assign service cluster IPs. Max of two CIDRs is allowed, one of each IP family. This field is immutable.',
    cell: ({ spec }) => spec.cidrs?.join(',') ?? '',
  },
  ageColumn,
];

/** Status writes change nothing else, unlike those of older kinds. */
function statusMetadata(before: ObjectMeta, after: ObjectMeta): ObjectMeta {
  const { resourceVersion, managedFields } = after;
  return {
    ...before,
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(managedFields === undefined ? {} : { managedFields }),
  };
}

export const serviceCidrDefinition: KindDefinition<ServiceCIDR> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  singular: 'servicecidr',
  namespaced: false,
  schema: serviceCidrSchema,
  nameRule: nameIsDnsSubdomain,
  create: {
    prepareCreate: (object) => ({ ...object, status: {} }),
    validateCreate: validateServiceCIDR,
  },
  update: {
    prepareUpdate: (before, after) => ({ ...after, status: before.status }),
    validateUpdate: validateServiceCIDRUpdate,
  },
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: (before, after) => ({
          ...after,
          metadata: statusMetadata(before.metadata, after.metadata),
          spec: before.spec,
        }),
        validateUpdate: () => [],
      },
    },
  ],
  columns,
  fieldSelectorError: 'known',
};
