import { formatLabelMap, formatSelector, selectorFromLabelSelector } from '../../meta/labels.ts';
import type { Column } from '../definition.ts';
import { ageColumn, nameColumn } from '../metadata-columns.ts';
import { templateColumns } from '../pod-template/columns.ts';
import type { DaemonSet } from './types.ts';

export const daemonSetColumns: readonly Column<DaemonSet>[] = [
  nameColumn,
  {
    name: 'Desired',
    type: 'integer',
    description:
      'The total number of nodes that should be running the daemon pod (including nodes correctly running the daemon pod). More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/',
    cell: ({ status }) => status.desiredNumberScheduled,
  },
  {
    name: 'Current',
    type: 'integer',
    description:
      'The number of nodes that are running at least 1 daemon pod and are supposed to run the daemon pod. More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/',
    cell: ({ status }) => status.currentNumberScheduled,
  },
  {
    name: 'Ready',
    type: 'integer',
    description:
      'numberReady is the number of nodes that should be running the daemon pod and have one or more of the daemon pod running with a Ready Condition.',
    cell: ({ status }) => status.numberReady,
  },
  {
    name: 'Up-to-date',
    type: 'integer',
    description: 'The total number of nodes that are running updated daemon pod',
    cell: ({ status }) => status.updatedNumberScheduled ?? 0,
  },
  {
    name: 'Available',
    type: 'integer',
    description:
      'The number of nodes that should be running the daemon pod and have one or more of the daemon pod running and available (ready for at least spec.minReadySeconds)',
    cell: ({ status }) => status.numberAvailable ?? 0,
  },
  {
    name: 'Node Selector',
    type: 'string',
    description:
      "NodeSelector is a selector which must be true for the pod to fit on a node. Selector which must match a node's labels for the pod to be scheduled on that node. More info: https://kubernetes.io/docs/concepts/configuration/assign-pod-node/",
    cell: ({ spec }) => formatLabelMap(spec.template.spec.nodeSelector) || '<none>',
  },
  ageColumn,
  ...templateColumns<DaemonSet>(({ spec }) => spec.template),
  {
    name: 'Selector',
    type: 'string',
    priority: 1,
    description:
      "A label query over pods that are managed by the daemon set. Must match in order to be controlled. It must match the pod template's labels. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
    cell: ({ spec }) => formatSelector(selectorFromLabelSelector(spec.selector)) || '<none>',
  },
];
