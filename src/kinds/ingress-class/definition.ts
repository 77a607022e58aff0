import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { KindDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { type IngressClass, ingressClassSchema } from './types.ts';
import { validateIngressClass, validateIngressClassUpdate } from './validate.ts';

export const ingressClassDefinition: KindDefinition<IngressClass> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  singular: 'ingressclass',
  namespaced: false,
  schema: ingressClassSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: defaultIngressClass,
  create: { validateCreate: validateIngressClass },
  update: { validateUpdate: validateIngressClassUpdate },
  generationChanges: (before, after) => !deepEqual(before.spec, after.spec),
  columns: [
    nameColumn,
    {
      name: 'Controller',
      type: 'string',
      description: 'Controller that is responsible for handling this class',
      cell: ({ spec }) => spec.controller ?? '',
    },
    {
      name: 'Parameters',
      type: 'string',
      description: 'A reference to a resource with additional parameters',
      cell: parametersText,
    },
    ageColumn,
  ],
  fieldSelectorError: 'known',
};

function defaultIngressClass(object: IngressClass): IngressClass {
  const { parameters } = object.spec;
  if (parameters === undefined || parameters.scope !== undefined) return object;
  return { ...object, spec: { ...object.spec, parameters: { ...parameters, scope: 'Cluster' } } };
}

function parametersText({ spec }: IngressClass): string {
  const { parameters } = spec;
  if (parameters === undefined) return '<none>';
  const group = parameters.apiGroup === undefined ? '' : `.${parameters.apiGroup}`;
  return `${parameters.kind}${group}/${parameters.name}`;
}
