import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';

const parentReference = s.struct(
  'ParentReference',
  {
    group: s.string('API group of the owner; empty for the core group.'),
    resource: s.required(s.string('Resource of the owner, in the plural.')),
    namespace: s.string('Namespace of the owner.'),
    name: s.required(s.string('Name of the owner.')),
  },
  { numbers: [1, 2, 3, 4] },
);
export type ParentReference = s.Static<typeof parentReference>;

const ipAddressSpec = s.struct(
  'IPAddressSpec',
  {
    parentRef: s.required(
      s.pointer(s.described(parentReference, 'The object that has the address; never changes.')),
    ),
  },
  { numbers: [1] },
);

export const ipAddressSchema = s.struct(
  'IPAddress',
  {
    ...objectFields,
    spec: s.described(ipAddressSpec, 'Whose address it is. The address itself is the name.'),
  },
  {
    description:
      'An allocated address and its owner. Its name is the address in its canonical form.',
    numbers: [0, 0, 1, 2],
  },
);
export type IPAddress = KubeObject & s.Static<typeof ipAddressSchema>;

export const familyLabel = 'ipaddress.kubernetes.io/ip-family';
export const managedByLabel = 'ipaddress.kubernetes.io/managed-by';
/** The cluster IP allocator, as value of its managed-by label. */
export const allocatorName = 'ipallocator.k8s.io';
