// PodTemplates as objects of their own: templates that people store for later.
import { formatLabelMap } from '../../meta/labels.ts';
import { nameIsDnsSubdomain } from '../../meta/names.ts';
import { type KubeObject, objectFields } from '../../meta/object.ts';
import { deepEqual } from '../../schema/equality.ts';
import * as s from '../../schema/node.ts';
import type { Column, KindDefinition } from '../definition.ts';
import { nameColumn } from '../metadata-columns.ts';
import { templateWarnings } from '../pod/warnings.ts';
import { templateColumns } from './columns.ts';
import { defaultPodTemplate } from './defaults.ts';
import { type PodTemplateSpec, podTemplateSpec } from './types.ts';
import { validatePodTemplate } from './validate.ts';

const podTemplateSchema = s.struct(
  'PodTemplate',
  {
    ...objectFields,
    template: s.described(podTemplateSpec, 'What pods made from it look like.'),
  },
  {
    description: 'A template for pods, stored for controllers and people that make pods from it.',
    numbers: [0, 0, 1, 2],
  },
);

type PodTemplate = KubeObject & { readonly template: PodTemplateSpec };

const columns: readonly Column<PodTemplate>[] = [
  nameColumn,
  ...templateColumns<PodTemplate>(({ template }) => template).map((column) => ({
    ...column,
    priority: 0,
  })),
  {
    name: 'Pod Labels',
    type: 'string',
    description: 'The labels for the pod template.',
    cell: ({ template }) => formatLabelMap(template.metadata.labels) || '<none>',
  },
];

export const podTemplateDefinition: KindDefinition<PodTemplate> = {
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  plural: 'podtemplates',
  singular: 'podtemplate',
  namespaced: true,
  schema: podTemplateSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: (object) => ({ ...object, template: defaultPodTemplate(object.template) }),
  create: {
    validateCreate: ({ template }) => validatePodTemplate(template, 'template'),
    warnOnCreate: ({ template }) => templateWarnings(template, 'template.'),
  },
  update: {
    validateUpdate: (_before, { template }) => validatePodTemplate(template, 'template'),
    warnOnUpdate: ({ metadata }, after) =>
      metadata.generation === after.metadata.generation
        ? []
        : templateWarnings(after.template, 'template.'),
  },
  generationChanges: (before, after) => !deepEqual(before.template, after.template),
  deleteAnswersObject: true,
  columns,
  fieldSelectorError: 'known',
};
