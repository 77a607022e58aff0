import { condition } from '../../meta/conditions.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import * as s from '../../schema/node.ts';

const serviceCidrSpec = s.struct(
  'ServiceCIDRSpec',
  {
    cidrs: s.list(
      s.string(),
      'Ranges from which services get addresses: one, or one of each family.',
      { listType: 'atomic' },
    ),
  },
  { numbers: [1] },
);

const serviceCidrStatus = s.struct(
  'ServiceCIDRStatus',
  {
    conditions: s.list(
      condition,
      'What is currently true of the range; Ready says whether it gives addresses.',
      {
        listType: 'map',
        keys: ['type'],
        mergeKey: 'type',
        patchStrategy: 'merge',
      },
    ),
  },
  { numbers: [1] },
);

export const serviceCidrSchema = s.struct(
  'ServiceCIDR',
  {
    ...objectFields,
    spec: s.described(serviceCidrSpec, 'The ranges.'),
    status: s.described(serviceCidrStatus, 'Their state.'),
  },
  { description: 'Ranges from which Services get their addresses.', numbers: [0, 0, 1, 2, 3] },
);
export type ServiceCIDR = KubeObject & s.Static<typeof serviceCidrSchema>;

export const readyCondition = 'Ready';
