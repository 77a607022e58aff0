import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { KindDefinition } from '../definition.ts';
import { nodeColumns } from './columns.ts';
import { defaultNode } from './defaults.ts';
import { prepareNodeCreate, prepareNodeStatusUpdate, prepareNodeUpdate } from './prepare.ts';
import { type Node, nodeSchema } from './types.ts';
import { validateNode, validateNodeChange, validateNodeUpdate } from './validate.ts';
import { nodeWarnings } from './warnings.ts';

export const nodeDefinition: KindDefinition<Node> = {
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  singular: 'node',
  shortNames: ['no'],
  namespaced: false,
  schema: nodeSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultNode,
  create: {
    prepareCreate: prepareNodeCreate,
    validateCreate: validateNode,
    warnOnCreate: nodeWarnings,
  },
  update: {
    prepareUpdate: prepareNodeUpdate,
    validateUpdate: validateNodeUpdate,
    warnOnUpdate: (_before, after) => nodeWarnings(after),
  },
  subresources: [
    {
      name: 'proxy',
      kind: 'NodeProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
    },
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: { prepareUpdate: prepareNodeStatusUpdate, validateUpdate: validateNodeChange },
    },
  ],
  columns: nodeColumns,
  fieldSelectors: { 'spec.unschedulable': ({ spec }) => String(spec.unschedulable ?? false) },
  fieldSelectorError: 'label',
};
