import { nameIsPathSegment } from '../../meta/names.ts';
import { deepEqual } from '../../schema/equality.ts';
import type { KindDefinition } from '../definition.ts';
import { budgetColumns } from './columns.ts';
import { type PodDisruptionBudget, podDisruptionBudgetSchema } from './types.ts';
import { validateBudget, validateBudgetStatus } from './validate.ts';

const nothingObserved = {
  disruptionsAllowed: 0,
  currentHealthy: 0,
  desiredHealthy: 0,
  expectedPods: 0,
};

export const podDisruptionBudgetDefinition: KindDefinition<PodDisruptionBudget> = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  singular: 'poddisruptionbudget',
  shortNames: ['pdb'],
  namespaced: true,
  schema: podDisruptionBudgetSchema,
  // Upstream checks no more of the names of budgets; what is longer than a key of the store would be an error of the server.
  nameRule: nameIsPathSegment,
  create: {
    prepareCreate: (object) => ({ ...object, status: nothingObserved }),
    validateCreate: validateBudget,
  },
  update: {
    prepareUpdate: (before, after) => ({ ...after, status: before.status }),
    validateUpdate: (_before, after) => validateBudget(after),
  },
  needsResourceVersion: true,
  generationChanges: (before, after) => !deepEqual(before.spec, after.spec),
  subresources: [
    {
      name: 'status',
      verbs: ['get', 'patch', 'update'],
      rules: {
        prepareUpdate: (before, after) => ({ ...after, spec: before.spec }),
        validateUpdate: (_before, after) => validateBudgetStatus(after),
      },
    },
  ],
  columns: budgetColumns,
  fieldSelectorError: 'known',
};
