import { nameIsDnsSubdomain } from '../../meta/names.ts';
import type { Column, KindDefinition } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { type PriorityClass, priorityClassSchema } from './types.ts';
import { validatePriorityClass, validatePriorityClassUpdate } from './validate.ts';

const defaultPreemption = 'PreemptLowerPriority';

const columns: readonly Column<PriorityClass>[] = [
  nameColumn,
  {
    name: 'Value',
    type: 'integer',
    description:
      'value represents the integer value of this priority class. This is the actual priority that pods receive when they have the name of this class in their pod spec.',
    cell: ({ value }) => value,
  },
  {
    name: 'Global-Default',
    type: 'boolean',
    description:
      'globalDefault specifies whether this PriorityClass should be considered as the default priority for pods that do not have any priority class. Only one PriorityClass can be marked as `globalDefault`. However, if more than one PriorityClasses exists with their `globalDefault` field set to true, the smallest value of such global default PriorityClasses will be used as the default priority.',
    cell: ({ globalDefault }) => globalDefault ?? false,
  },
  ageColumn,
  {
    name: 'PreemptionPolicy',
    type: 'string',
    description:
      'preemptionPolicy is the Policy for preempting pods with lower priority. One of Never, PreemptLowerPriority. Defaults to PreemptLowerPriority if unset.',
    cell: ({ preemptionPolicy }) => preemptionPolicy ?? defaultPreemption,
  },
];

export const priorityClassDefinition: KindDefinition<PriorityClass> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  singular: 'priorityclass',
  shortNames: ['pc'],
  namespaced: false,
  schema: priorityClassSchema,
  nameRule: nameIsDnsSubdomain,
  defaults: (object) => ({
    ...object,
    preemptionPolicy: object.preemptionPolicy ?? defaultPreemption,
  }),
  create: { validateCreate: validatePriorityClass },
  update: { validateUpdate: validatePriorityClassUpdate, resetFields: [] },
  createsOnUpdate: true,
  // As upstream, it stays 1.
  generationChanges: () => false,
  columns,
  fieldSelectorError: 'known',
};
