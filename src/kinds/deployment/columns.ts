import { formatSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import type { Column } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { templateColumns } from '../pod-template/columns.ts';
import type { Deployment } from './types.ts';

export const deploymentColumns: readonly Column<Deployment>[] = [
  nameColumn,
  {
    name: 'Ready',
    type: 'string',
    description: 'Number of the pod with ready state',
    cell: ({ spec, status }) => `${status.readyReplicas ?? 0}/${spec.replicas ?? 0}`,
  },
  {
    name: 'Up-to-date',
    type: 'string',
    description:
      'Total number of non-terminating pods targeted by this deployment that have the desired template spec.',
    cell: ({ status }) => status.updatedReplicas ?? 0,
  },
  {
    name: 'Available',
    type: 'string',
    description:
      'Total number of available non-terminating pods (ready for at least minReadySeconds) targeted by this deployment.',
    cell: ({ status }) => status.availableReplicas ?? 0,
  },
  ageColumn,
  ...templateColumns<Deployment>(({ spec }) => spec.template),
  {
    name: 'Selector',
    type: 'string',
    priority: 1,
    description:
      "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones affected by this deployment. It must match the pod template's labels.",
    cell: ({ spec }) => formatSelector(selectorFromLabelSelector(spec.selector)),
  },
];
