import { nameIsDnsLabel } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import { serviceColumns } from './columns.ts';
import { storedServiceCompletion } from './complete-stored.ts';
import { defaultService } from './defaults.ts';
import { prepareCreate, prepareStatusUpdate, prepareUpdate } from './prepare.ts';
import { type Service, serviceSchema } from './types.ts';
import { validateService } from './validate.ts';
import { validateServiceStatus } from './validate-status.ts';
import { validateServiceUpdate } from './validate-update.ts';
import { serviceWarnings, statusWarnings } from './warnings.ts';

export const serviceDefinition: KindDefinition<Service> = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  singular: 'service',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  schema: serviceSchema,
  nameRule: nameIsDnsLabel,
  defaults: defaultService,
  storedCompletion: storedServiceCompletion,
  create: {
    prepareCreate,
    validateCreate: (service) => validateService(service),
    warnOnCreate: serviceWarnings,
  },
  update: {
    prepareUpdate,
    validateUpdate: validateServiceUpdate,
    warnOnUpdate: (_before, after) => serviceWarnings(after),
  },
  createsOnUpdate: true,
  deleteAnswersObject: true,
  subresources: [
    {
      name: 'proxy',
      kind: 'ServiceProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
    },
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: prepareStatusUpdate,
        validateUpdate: validateServiceStatus,
        warnOnUpdate: (_before, after) => statusWarnings(after),
      },
    },
  ],
  columns: serviceColumns,
  fieldSelectors: {
    'spec.clusterIP': ({ spec }) => spec.clusterIP ?? '',
    'spec.type': ({ spec }) => spec.type ?? '',
  },
  fieldSelectorError: 'label',
};
