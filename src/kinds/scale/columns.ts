// Columns of `kubectl get --subresource=scale`.
import type { Column } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import type { Scale } from './types.ts';

export const scaleColumns: readonly Column<Scale>[] = [
  nameColumn,
  {
    name: 'Desired',
    type: 'integer',
    description: 'replicas is the desired number of instances for the scaled object.',
    cell: ({ spec }) => spec.replicas ?? 0,
  },
  {
    name: 'Available',
    type: 'integer',
    description: 'replicas is the actual number of observed instances of the scaled object.',
    cell: ({ status }) => status.replicas,
  },
  ageColumn,
];
