import type { IntOrString } from '../../schema/int-or-string.ts';
import type { Column } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import type { PodDisruptionBudget } from './types.ts';

const shown = (share: IntOrString | undefined): string =>
  share === undefined ? 'N/A' : String(share);

export const budgetColumns: readonly Column<PodDisruptionBudget>[] = [
  nameColumn,
  {
    name: 'Min Available',
    type: 'string',
    description: 'The minimum number of pods that must be available.',
    cell: ({ spec }) => shown(spec.minAvailable),
  },
  {
    name: 'Max Unavailable',
    type: 'string',
    description: 'The maximum number of pods that may be unavailable.',
    cell: ({ spec }) => shown(spec.maxUnavailable),
  },
  {
    name: 'Allowed Disruptions',
    type: 'integer',
    description: 'Calculated number of pods that may be disrupted at this time.',
    cell: ({ status }) => status.disruptionsAllowed,
  },
  ageColumn,
];
