import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { KindDefinition } from '../definition.ts';
import { ingressColumns } from './columns.ts';
import { type Ingress, ingressSchema } from './types.ts';
import { validateIngress, validateIngressCreate, validateIngressStatus } from './validate.ts';
import { ingressStatusWarnings, ingressWarnings } from './warnings.ts';

export const ingressDefinition: KindDefinition<Ingress> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'Ingress',
  plural: 'ingresses',
  singular: 'ingress',
  shortNames: ['ing'],
  namespaced: true,
  schema: ingressSchema,
  nameRule: nameIsDnsSubdomain,
  create: {
    prepareCreate: (object) => ({ ...object, status: { loadBalancer: {} } }),
    validateCreate: validateIngressCreate,
    warnOnCreate: ingressWarnings,
  },
  update: {
    prepareUpdate: (before, after) => ({ ...after, status: before.status }),
    validateUpdate: (_before, after) => validateIngress(after),
  },
  generationChanges: (before, after) => !deepEqual(before.spec, after.spec),
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: (before, after) => ({ ...after, spec: before.spec }),
        validateUpdate: validateIngressStatus,
        warnOnUpdate: ingressStatusWarnings,
      },
    },
  ],
  columns: ingressColumns,
  fieldSelectorError: 'known',
};
