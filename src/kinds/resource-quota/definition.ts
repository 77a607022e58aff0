import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { type ResourceQuota, resourceQuotaSchema } from './types.ts';
import { validateQuota, validateQuotaStatus, validateQuotaUpdate } from './validate.ts';

export const resourceQuotaDefinition: KindDefinition<ResourceQuota> = {
  group: '',
  version: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  singular: 'resourcequota',
  shortNames: ['quota'],
  namespaced: true,
  schema: resourceQuotaSchema,
  nameRule: nameIsDnsSubdomain,
  deleteAnswersObject: true,
  create: {
    prepareCreate: (object) => ({ ...object, status: {} }),
    validateCreate: validateQuota,
  },
  update: {
    prepareUpdate: (before, after) => ({ ...after, status: before.status }),
    validateUpdate: validateQuotaUpdate,
  },
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: (before, after) => ({ ...after, spec: before.spec }),
        validateUpdate: validateQuotaStatus,
      },
    },
  ],
  columns: [
    nameColumn,
    {
      name: 'Request',
      type: 'string',
      description:
        'Request represents a minimum amount of cpu/memory that a container may consume.',
      cell: (quota) => usageText(quota, (name) => !name.startsWith('limits.')),
    },
    {
      name: 'Limit',
      type: 'string',
      description:
        'Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.',
      cell: (quota) => usageText(quota, (name) => name.startsWith('limits.')),
    },
    ageColumn,
  ],
  fieldSelectorError: 'known',
};

/** `pods: 1/2, requests.cpu: 0/1`. */
function usageText({ status }: ResourceQuota, isShown: (name: string) => boolean): string {
  const { hard = {}, used = {} } = status;
  const names = Object.keys(hard).filter(isShown).sort();
  return names.map((name) => `${name}: ${used[name] ?? '0'}/${hard[name]}`).join(', ');
}
