import { nameIsDnsLabel } from '../../meta/names.ts';
import type { KindDefinition, SubresourceDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { hasOwnFinalizers, markTerminating } from './life-cycle.ts';
import {
  defaultNamespace,
  prepareNamespaceCreate,
  prepareNamespaceFinalize,
  prepareNamespaceStatus,
  prepareNamespaceUpdate,
} from './prepare.ts';
import { type Namespace, namespaceSchema } from './types.ts';
import {
  validateNamespace,
  validateNamespaceFinalize,
  validateNamespaceStatus,
} from './validate.ts';

const finalize: SubresourceDefinition<Namespace> = {
  name: 'finalize',
  verbs: ['update'],
  rules: {
    prepareUpdate: prepareNamespaceFinalize,
    validateUpdate: (_before, after) => validateNamespaceFinalize(after),
    resetFields: [['status']],
  },
};

const status: SubresourceDefinition<Namespace> = {
  name: 'status',
  verbs: ['get', 'patch', 'update'],
  rules: {
    prepareUpdate: prepareNamespaceStatus,
    validateUpdate: (_before, after) => validateNamespaceStatus(after),
  },
};

export const namespaceDefinition: KindDefinition<Namespace> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  namespaced: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  schema: namespaceSchema,
  nameRule: nameIsDnsLabel,
  defaults: defaultNamespace,
  create: { prepareCreate: prepareNamespaceCreate, validateCreate: validateNamespace },
  update: {
    prepareUpdate: prepareNamespaceUpdate,
    validateUpdate: (_before, after) => validateNamespace(after),
  },
  markDeleting: markTerminating,
  holdsDeletion: hasOwnFinalizers,
  deleteAnswersObject: true,
  subresources: [finalize, status],
  columns: [
    nameColumn,
    {
      name: 'Status',
      type: 'string',
      description: 'The status of the namespace',
      cell: (namespace) => namespace.status.phase ?? '',
    },
    ageColumn,
  ],
  fieldSelectors: {
    'status.phase': (namespace) => namespace.status.phase ?? '',
  },
  fieldSelectorError: 'label',
};
